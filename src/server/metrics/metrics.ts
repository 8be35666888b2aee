/**
 * Metrics in the text format of Prometheus.
 *
 * @module
 */

/** Labels of a series. */
export type Labels = Readonly<Record<string, string>>;

type Kind = "counter" | "gauge" | "histogram";

interface Metric {
  readonly kind: Kind;
  readonly help: string;
  readonly series: Map<string, number>;
}

/** Upper bounds of the buckets of a duration, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counters, gauges and histograms. */
export class Metrics {
  readonly #metrics = new Map<string, Metric>();
  readonly #gauges = new Map<string, { readonly help: string; readonly read: () => number }>();

  /** Adds to a counter. */
  add(name: string, help: string, { by = 1, labels = {} }: {
    readonly by?: number;
    readonly labels?: Labels;
  } = {}): void {
    this.#increase(this.#get(name, "counter", help), formatLabels(labels), by);
  }

  /** Defines a gauge, which is read with every request. */
  defineGauge(name: string, help: string, read: () => number): void {
    this.#gauges.set(name, { help, read });
  }

  /** Adds a duration in seconds to a histogram. */
  observe(name: string, help: string, seconds: number): void {
    const metric = this.#get(name, "histogram", help);
    for (const bound of BUCKETS) {
      this.#increase(metric, `_bucket{le="${bound}"}`, seconds <= bound ? 1 : 0);
    }
    this.#increase(metric, `_bucket{le="+Inf"}`, 1);
    this.#increase(metric, "_sum", seconds);
    this.#increase(metric, "_count", 1);
  }

  /** Returns all metrics as text. */
  format(): string {
    const lines: string[] = [];
    for (const [name, { kind, help, series }] of this.#metrics) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
      for (const [suffix, value] of series) lines.push(`${name}${suffix} ${value}`);
    }
    for (const [name, { help, read }] of this.#gauges) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`);
    }
    return `${lines.join("\n")}\n`;
  }

  #get(name: string, kind: Kind, help: string): Metric {
    const known = this.#metrics.get(name);
    if (known) return known;
    const metric = { kind, help, series: new Map<string, number>() };
    this.#metrics.set(name, metric);
    return metric;
  }

  #increase({ series }: Metric, suffix: string, by: number): void {
    series.set(suffix, (series.get(suffix) ?? 0) + by);
  }
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
