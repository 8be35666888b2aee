/**
 * The progress of a download on standard error: a bar on a terminal, else a line at its start.
 *
 * @module
 */

import { type DownloadProgress, formatBytes } from "../../src/local/mod.ts";
import type { Host } from "../host/host.ts";
import { toPlainText } from "../render/plain_text.ts";
import { truncateToWidth } from "../render/text_width.ts";
import { formatDuration } from "../render/usage_line.ts";

/** Columns of the bar. */
const BAR_COLUMNS = 24;
/** Columns that stay free for `^C`, which the terminal adds; otherwise the bar could not be erased. */
const KEY_COLUMNS = 3;
/** Time between two updates. */
const INTERVAL_MS = 100;
/** Moves to the beginning of the row and clears it. */
const CLEAR = "\r\x1b[K";

/** Shows the progress of one download. */
export class DownloadBar {
  readonly #name: string;
  readonly #host: Host;
  readonly #isLive: boolean;
  #start: { readonly at: number; readonly bytes: number } | undefined;
  #drawnAt = -Infinity;
  #isShown = false;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(name: string, host: Host) {
    const { messages } = host.terminal;
    this.#name = toPlainText(name);
    this.#host = host;
    this.#isLive = messages.isTerminal && host.env("TERM") !== "dumb";
  }

  /** Shows a state of the download. */
  update(progress: DownloadProgress): void {
    const now = this.#host.now();
    const isFirst = this.#start === undefined;
    this.#start ??= { at: now, bytes: progress.receivedBytes };
    if (isFirst && !this.#isLive) this.#write(`${this.#describeStart(progress)}\n`);
    if (!this.#isLive || now - this.#drawnAt < INTERVAL_MS) return;
    this.#drawnAt = now;
    this.#isShown = true;
    const columns = this.#host.terminal.columns - KEY_COLUMNS;
    this.#write(CLEAR + truncateToWidth(this.#format(progress, this.#start, now), columns));
  }

  /** Erases the bar. */
  async close(): Promise<void> {
    if (this.#isShown) this.#write(CLEAR);
    this.#isShown = false;
    await this.#writing;
  }

  #describeStart({ receivedBytes, totalBytes }: DownloadProgress): string {
    const size = totalBytes === undefined ? "" : ` (${formatBytes(totalBytes)})`;
    const present = receivedBytes > 0 ? `, of which ${formatBytes(receivedBytes)} are present` : "";
    return `Downloading ${this.#name}${size}${present}`;
  }

  #format(
    { receivedBytes, totalBytes }: DownloadProgress,
    start: { readonly at: number; readonly bytes: number },
    now: number,
  ): string {
    const seconds = (now - start.at) / 1_000;
    const rate = seconds > 0 ? (receivedBytes - start.bytes) / seconds : 0;
    const speed = rate > 0 ? `  ${formatBytes(rate)}/s` : "";
    if (totalBytes === undefined || totalBytes === 0) {
      return `${this.#name}  ${formatBytes(receivedBytes)}${speed}`;
    }
    const share = Math.min(1, receivedBytes / totalBytes);
    const filled = Math.round(share * BAR_COLUMNS);
    const bar = "█".repeat(filled) + "░".repeat(BAR_COLUMNS - filled);
    const left = rate > 0
      ? `  ${formatDuration((totalBytes - receivedBytes) / rate * 1_000)} left`
      : "";
    const amount = `${formatBytes(receivedBytes)} of ${formatBytes(totalBytes)}`;
    return `${this.#name}  ${bar} ${Math.floor(share * 100)}%  ${amount}${speed}${left}`;
  }

  #write(text: string): void {
    const { messages } = this.#host.terminal;
    this.#writing = this.#writing.then(() => messages.write(text)).catch(() => undefined);
  }
}
