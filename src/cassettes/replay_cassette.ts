/**
 * A `fetch` that answers from a cassette.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../core/errors.ts";
import { type CassetteExchange, parseCassette } from "./cassette.ts";
import { type CassetteFiles, type CassettePath, nodeFiles } from "./cassette_files.ts";
import { formatAddress, RecordedExchanges } from "./cassette_match.ts";
import { extractSecrets, redactRequest } from "./cassette_redaction.ts";
import { createOutgoingRequest, type FetchArguments } from "./cassette_request.ts";
import { replayExchange } from "./replay_exchange.ts";
import { realSleep, type Sleep } from "../core/ports.ts";

/** Options of {@linkcode replayCassette}. */
export interface CassetteOptions {
  /** Whether responses come at once, or take as long as they took. Default: `"at_once"`. */
  readonly timing?: "at_once" | "as_recorded" | undefined;
  /** The texts that were kept out of the recording. */
  readonly secrets?: readonly string[] | undefined;
  /** Port: waits. Default: `setTimeout`. */
  readonly sleep?: Sleep | undefined;
  /** Port: where cassettes are kept. Default: the disk. */
  readonly files?: CassetteFiles | undefined;
}

/** A `fetch` that replays. */
export interface CassetteFetch {
  /** Answers a request with what was recorded for it. */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Reads when the cassette was recorded, in milliseconds since the epoch: the time for whoever writes it into prompts.
   *
   * @throws {BadRequestError} When there is no cassette.
   */
  recordedAt(): Promise<number>;
  /**
   * Checks that nothing is left.
   *
   * @throws {Error} When there are exchanges that no request has asked for; it names them.
   */
  assertDone(): void;
}

/**
 * Answers requests from a cassette that {@linkcode recordFetch} has written; there is no network behind it.
 *
 * A request is answered by the first unused exchange of the same method, address and body; in a JSON body the order of
 * members does not matter, and headers are not looked at, so that any key will do. Bodies come in the chunks in which
 * they came, and failures fail as they did. A request that was not recorded is rejected with a `bad_request` that shows
 * where it differs from the closest one.
 *
 * @example
 * ```ts
 * import { recordFetch, replayCassette, replayFetch } from "@swink/agent/testing";
 *
 * const file = `${await Deno.makeTempDir()}/greeting.jsonl`;
 * const live = recordFetch(replayFetch("hello"), file);
 * await (await live("https://api.example.com/greeting")).text();
 *
 * const fetch = replayCassette(file);
 * const response = await fetch("https://api.example.com/greeting");
 * await response.text(); // "hello"
 * fetch.assertDone();
 * ```
 */
export function replayCassette(file: CassettePath, options: CassetteOptions = {}): CassetteFetch {
  const { timing = "at_once", sleep = realSleep, files = nodeFiles, secrets = [] } = options;
  let loading: Promise<LoadedCassette> | null = null;
  let exchanges: RecordedExchanges | null = null;
  const loaded = (): Promise<LoadedCassette> => loading ??= loadCassette(file, files);
  const replay = async (...request: FetchArguments): Promise<Response> => {
    const asked = await createOutgoingRequest(...request);
    exchanges = (await loaded()).exchanges;
    asked.signal.throwIfAborted();
    const clean = redactRequest(asked, [...secrets, ...extractSecrets(asked)]);
    const exchange = exchanges.takeMatch(clean);
    if (!exchange) throw new BadRequestError(exchanges.explainMismatch(clean));
    return await replayExchange(exchange, { signal: asked.signal, timing, sleep });
  };
  return Object.assign(replay, {
    recordedAt: async () => (await loaded()).recordedAt,
    assertDone(): void {
      if (!exchanges) throw new Error(`Nothing has been asked of the cassette "${file}"`);
      const names = exchanges.unused.map(formatExchangeName);
      if (names.length === 0) return;
      throw new Error(`The cassette "${file}" holds more than was asked for:\n${names.join("\n")}`);
    },
  });
}

interface LoadedCassette {
  readonly recordedAt: number;
  readonly exchanges: RecordedExchanges;
}

async function loadCassette(file: CassettePath, files: CassetteFiles): Promise<LoadedCassette> {
  const name = String(file);
  const text = await files.read(file).catch((cause: unknown) => {
    throw new BadRequestError(`Cannot read the cassette "${name}": ${getErrorMessage(cause)}`, {
      cause,
    });
  });
  if (text === undefined) {
    throw new BadRequestError(`There is no cassette "${name}": record it with recordFetch first`);
  }
  const { recordedAt, exchanges } = parseCassette(text, name);
  return { recordedAt, exchanges: new RecordedExchanges(name, exchanges) };
}

function formatExchangeName({ exchange, request }: CassetteExchange): string {
  return `  exchange ${exchange}, ${formatAddress(request)}`;
}
