"""How search results look to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pcpfs.cli.text import interval, plural, short, styled
from pcpfs.model.marks import marks
from pcpfs.model.shown import safe, safe_lines

if TYPE_CHECKING:
    from pcpfs.model.answers import SearchAnswer, SearchHit


def answer_lines(answer: SearchAnswer) -> Iterator[str]:
    """The results, best first, and how to see more."""
    for hit in answer.results:
        yield from _hit_lines(hit)
    where = f"in {plural(len(answer.scopes), 'scope')} ({answer.policy})"
    when = f" as of {answer.as_of}" if answer.as_of else ""
    yield styled(f"{plural(len(answer.results), 'result')} {where}{when}", "dim")
    if answer.cursor:
        yield styled(f"more: --cursor {safe(answer.cursor)}", "dim")


def _hit_lines(hit: SearchHit) -> Iterator[str]:
    label = styled(safe(hit.citation_label or hit.title), "bold")
    mark = styled(f"  {marks(hit)}", "dim") if marks(hit) else ""
    mark += styled("  suspect", "red") if hit.suspect else ""
    ended = f"  {interval(hit.valid_from, hit.valid_to)}" if hit.valid_to else ""
    yield f"{label}  {styled(safe(hit.kind), 'cyan')}{mark}{ended}"
    told = hit.signature or hit.title
    if told not in (hit.citation_label, "") and not hit.excerpt.lstrip("# ").startswith(told):
        yield f"  {safe(told)}"
    for line in hit.excerpt.splitlines()[:3]:
        yield styled(f"  | {safe_lines(line.rstrip())}", "dim")
    yield f"  {short(hit.frame_id or hit.page_id)}  {safe(hit.scope)}  {safe(hit.why)}"
