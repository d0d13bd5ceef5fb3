import { useMemo } from "react";

import { type Extreme, minutesUntil } from "./tideClient";

interface TideChartProps {
  turns: Extreme[];
  now: Date;
}

const WIDTH = 480;
const HEIGHT = 120;

/** A half cosine from each turn to the next: close enough for the eye. */
export function curve(turns: Extreme[]): string {
  const top = Math.max(...turns.map((turn) => turn.height));
  const step = WIDTH / Math.max(1, turns.length - 1);
  const points = turns.map((turn, i) => `${i * step},${HEIGHT * (1 - turn.height / top)}`);
  return `M${points.join(" L")}`;
}

export function TideChart({ turns, now }: TideChartProps) {
  const path = useMemo(() => curve(turns), [turns]);
  const next = turns.find((turn) => turn.when > now);
  return (
    <figure>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img">
        <path d={path} fill="none" stroke="steelblue" />
      </svg>
      <figcaption>
        {next ? `${next.kind} water in ${minutesUntil(next, now)} min` : "no more turns today"}
        {" · without storm surge"}
      </figcaption>
    </figure>
  );
}
