/**
 * Client for aimock, an independent server that imitates the providers.
 *
 * aimock runs in a separate process per test file, because the test sanitizers would report its timers as leaks.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { choosePackages } from "../../scripts/packages.ts";
import { createDeadline } from "../deadline.ts";

/** A response of aimock and the requests that it matches, in the format of aimock. */
export interface AimockFixture {
  /** Requests to match. */
  readonly match: {
    readonly userMessage?: string;
    readonly hasToolResult?: boolean;
    readonly sequenceIndex?: number;
  };
  /** Response to send. */
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
  /** Delay before each chunk, in milliseconds. */
  readonly latency?: number;
  /** Characters per chunk. */
  readonly chunkSize?: number;
  /** Number of chunks before the connection is closed. */
  readonly truncateAfterChunks?: number;
  /** Probabilities of faults, from 0 to 1. */
  readonly chaos?: Readonly<Record<string, number>>;
}

/** A running server. */
export class Aimock {
  /** URL without a trailing slash. */
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** Resets the server and sets its fixtures. */
  async setFixtures(fixtures: readonly AimockFixture[]): Promise<void> {
    await this.#control("POST", "reset");
    await this.#control("POST", "fixtures", { fixtures });
  }

  /** Returns the number of requests since the fixtures were set. */
  async requestCount(): Promise<number> {
    const journal = await this.#control("GET", "journal");
    return Array.isArray(journal) ? journal.length : NaN;
  }

  async #control(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.url}/__aimock/${path}`, {
      method,
      signal: createDeadline(),
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

/** Starts the server for the tests of a file. Resolves with `undefined` when its package cannot be loaded. */
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
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  for await (const url of lines) return new Aimock(url);
  return undefined;
}
