/**
 * aimock: a server that plays the providers, written by others.
 *
 * It runs in a process of its own, one for a whole test file: beside the tests, its timers would count as theirs.
 *
 * @module
 */

import { choosePackages } from "../../scripts/packages.ts";

/** What aimock answers, and to what; its own format. */
export interface AimockFixture {
  /** Which requests it answers. */
  readonly match: {
    readonly userMessage?: string;
    readonly hasToolResult?: boolean;
    readonly sequenceIndex?: number;
  };
  /** What it answers. */
  readonly response: {
    readonly content?: string;
    readonly reasoning?: string;
    readonly reasoningSignature?: string;
    readonly toolCalls?: readonly { id: string; name: string; arguments: string }[];
    readonly finishReason?: string;
    readonly usage?: Readonly<Record<string, number>>;
    readonly error?: { readonly message: string; readonly type: string; readonly code?: string };
    readonly status?: number;
    readonly retryAfter?: number;
  };
  /** Pause before each chunk, in milliseconds. */
  readonly latency?: number;
  /** Characters of a chunk. */
  readonly chunkSize?: number;
  /** After how many chunks the connection breaks. */
  readonly truncateAfterChunks?: number;
  /** Faults by chance, from 0 to 1. */
  readonly chaos?: Readonly<Record<string, number>>;
}

/** A server that runs. */
export class Aimock {
  /** Its address, without a final slash. */
  readonly url: string;

  /** Makes a handle on the server at an address. */
  constructor(url: string) {
    this.url = url;
  }

  /** Forgets everything and answers with these fixtures from now on. */
  async setFixtures(fixtures: readonly AimockFixture[]): Promise<void> {
    await this.#control("POST", "reset");
    await this.#control("POST", "fixtures", { fixtures });
  }

  /** How many requests have come since. */
  async requestCount(): Promise<number> {
    const journal = await this.#control("GET", "journal");
    return Array.isArray(journal) ? journal.length : NaN;
  }

  async #control(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.url}/__aimock/${path}`, {
      method,
      ...(body && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`aimock answered ${response.status}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }
}

/** Starts the server, until the tests of the file are over; `undefined` when its package cannot be loaded. */
export async function startAimock(): Promise<Aimock | undefined> {
  const { config } = await choosePackages();
  const script = new URL("aimock_process.ts", import.meta.url).href;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", "-c", config, script],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  globalThis.addEventListener("unload", () => child.kill());
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    return new Aimock(text.trim());
  }
  return undefined;
}
