/**
 * Output without a live region, for terminals that cannot move the cursor and for the plain mode.
 *
 * @module
 */

import type { LiveRegion, LiveRegionOptions } from "./live_region.ts";

/** Writes output as it is. */
export class PlainRegion implements LiveRegion {
  readonly #output: LiveRegionOptions["output"];
  #isLineOpen = false;
  /** Output during a suspension. */
  #kept: { text: string; readonly onResume: PromiseWithResolvers<void> } | undefined;

  constructor({ output }: Pick<LiveRegionOptions, "output">) {
    this.#output = output;
  }

  print(chunk: string): Promise<void> {
    if (chunk === "") return Promise.resolve();
    this.#isLineOpen = !chunk.endsWith("\n");
    if (this.#kept) {
      this.#kept.text += chunk;
      return this.#kept.onResume.promise;
    }
    return this.#write(chunk);
  }

  printLines(lines: readonly string[]): Promise<void> {
    const end = this.#isLineOpen ? "\n" : "";
    return this.print(end + lines.map((line) => `${line}\n`).join(""));
  }

  draw(lines: readonly string[]): Promise<void> {
    return lines.length > 0 ? this.printLines(lines) : Promise.resolve();
  }

  update(): void {
    // There is no region.
  }

  resized(): void {
    // There is no region.
  }

  redraw(): void {
    // There is no region.
  }

  send(): Promise<void> {
    return Promise.resolve();
  }

  flush(): Promise<void> {
    return this.#write("");
  }

  async suspend(): Promise<void> {
    await this.printLines([]);
    this.#kept ??= { text: "", onResume: Promise.withResolvers() };
  }

  async resume(): Promise<void> {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept) await this.#write(kept.text);
    kept?.onResume.resolve();
  }

  async close(): Promise<void> {
    await this.resume();
    await this.printLines([]);
  }

  async #write(text: string): Promise<void> {
    // A write fails only when the terminal is closed.
    await this.#output.write(text).catch(() => {});
  }
}
