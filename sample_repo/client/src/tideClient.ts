/** Talks to the almanac (tidebook/almanac.py) and caches a day of turns. */

export type Kind = "high" | "low";

export interface Extreme {
  kind: Kind;
  when: Date;
  height: number;
}

/** A turn as it comes over the wire. */
type Row = Omit<Extreme, "when"> & { when: string };

export class TideError extends Error {}

const MINUTE = 60_000;

export class TideClient {
  readonly #cache = new Map<string, Extreme[]>();

  constructor(private readonly origin: string) {}

  /** All turns of one day, in order. */
  async extremes(station: string, day: Date): Promise<Extreme[]> {
    const key = `${station}/${day.toISOString().slice(0, 10)}`;
    const known = this.#cache.get(key);
    if (known) return known;
    const turns = await this.fetchDay(key);
    this.#cache.set(key, turns);
    return turns;
  }

  private async fetchDay(key: string): Promise<Extreme[]> {
    const answer = await fetch(`${this.origin}/almanac/${key}`);
    if (!answer.ok) throw new TideError(`no almanac for ${key}: ${answer.status}`);
    const rows: Row[] = await answer.json();
    return rows.map((row) => ({ ...row, when: new Date(row.when) }));
  }
}

export function minutesUntil(turn: Extreme, now: Date): number {
  return Math.round((turn.when.getTime() - now.getTime()) / MINUTE);
}
