/**
 * A `fetch` that answers from a cassette.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import { realSleep, type Sleep } from "../core/ports/ports.ts";
import { parseCassette } from "./cassette.ts";
import { type CassetteFiles, type CassettePath, localFiles } from "./cassette_files.ts";
import { formatAddress, RecordedExchanges } from "./cassette_match.ts";
import { addEncodedForms, extractSecrets, redactRequest } from "./cassette_redaction.ts";
import { createOutgoingRequest, type FetchArguments } from "./cassette_request.ts";
import { checkNormalize } from "./check_normalize.ts";
import { checkSecrets } from "./check_secrets.ts";
import { replayExchange } from "./replay_exchange.ts";

/** Options for {@linkcode replayCassette}. */
export interface CassetteOptions {
  /** Whether responses arrive at once or take as long as the recorded ones. Default: `"at_once"`. */
  readonly timing?: "at_once" | "as_recorded" | undefined;
  /** The `secrets` that the cassette was recorded with. */
  readonly secrets?: readonly string[] | undefined;
  /**
   * Replaces the parts of a text that differ in each run, such as times. Called with the texts of recorded and actual
   * bodies before they are compared; what is sent and received does not change. Default: none.
   */
  readonly normalize?: ((text: string) => string) | undefined;
  /** Port: waits. Default: `setTimeout`. */
  readonly sleep?: Sleep | undefined;
  /** Port: reads cassette files. Default: the file system. */
  readonly files?: CassetteFiles | undefined;
}

/** A `fetch` that answers from a cassette. */
export interface CassetteFetch {
  /**
   * Answers a request with the exchange that was recorded for it.
   *
   * @throws {BadRequestError} If the cassette cannot be read, or holds no unused exchange for the request.
   */
  (input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /**
   * Returns the start of the recording, in milliseconds since the epoch, for programs whose prompts contain the date.
   *
   * @throws {BadRequestError} If the cassette cannot be read.
   */
  recordedAt(): Promise<number>;
  /**
   * Checks that every exchange was replayed.
   *
   * @throws {Error} If exchanges are unused; the message lists them.
   */
  assertDone(): void;
}

/**
 * Creates a `fetch` that answers requests from a cassette written by `recordFetch()`, without a network.
 *
 * A request is answered by the first unused exchange of the same method, URL and body. The order of members in a JSON
 * body is ignored, and so are headers, so that any API key works. Bodies arrive in the recorded chunks, and recorded
 * network errors are thrown again. A request that was not recorded rejects with a {@linkcode BadRequestError} that shows
 * how it differs from the closest exchange.
 *
 * @throws {BadRequestError} If an option is unknown or invalid.
 *
 * @example
 * ```ts
 * import { recordFetch, replayCassette } from "@swink/agent/cassettes";
 *
 * const cassette = `${await Deno.makeTempDir()}/greeting.jsonl`;
 * const recording = recordFetch(() => Promise.resolve(new Response("Hello")), cassette);
 * await (await recording("https://api.example.com/greeting")).text();
 *
 * const fetch = replayCassette(cassette);
 * const response = await fetch("https://api.example.com/greeting");
 * await response.text(); // "Hello"
 * fetch.assertDone();
 * ```
 */
export function replayCassette(file: CassettePath, options: CassetteOptions = {}): CassetteFetch {
  checkObject(options, 'Pass options such as { timing: "as_recorded" }');
  checkNames(options, ["timing", "secrets", "normalize", "sleep", "files"], "replayCassette()");
  checkSecrets(options.secrets);
  checkTiming(options.timing);
  const { timing = "at_once", sleep = realSleep, files = localFiles, secrets = [] } = options;
  let loading: Promise<LoadedCassette> | null = null;
  let exchanges: RecordedExchanges | null = null;
  const load = (): Promise<LoadedCassette> =>
    loading ??= loadCassette(file, { files, normalize: options.normalize });
  const replay = async (...fetchArguments: FetchArguments): Promise<Response> => {
    const outgoing = await createOutgoingRequest(...fetchArguments);
    exchanges = (await load()).exchanges;
    outgoing.signal.throwIfAborted();
    const request = redactRequest(
      outgoing,
      addEncodedForms([...secrets, ...extractSecrets(outgoing)]),
    );
    const exchange = exchanges.takeMatch(request);
    if (!exchange) throw new BadRequestError(exchanges.explainMismatch(request));
    return await replayExchange(exchange, { signal: outgoing.signal, timing, sleep });
  };
  return Object.assign(replay, {
    recordedAt: async () => (await load()).recordedAt,
    assertDone(): void {
      if (!exchanges) throw new Error(`Cassette "${file}" was not used: no request was sent`);
      const unused = exchanges.unused.map(({ exchange, request }) =>
        `  exchange ${exchange}, ${formatAddress(request)}`
      );
      if (unused.length === 0) return;
      throw new Error(`Cassette "${file}" has unused exchanges:\n${unused.join("\n")}`);
    },
  });
}

function checkTiming(timing: unknown): void {
  if (timing === undefined || timing === "at_once" || timing === "as_recorded") return;
  throw new BadRequestError(
    `timing must be "at_once" or "as_recorded", not ${describeValue(timing)}`,
  );
}

interface LoadedCassette {
  readonly recordedAt: number;
  readonly exchanges: RecordedExchanges;
}

async function loadCassette(
  file: CassettePath,
  { files, normalize }: {
    readonly files: CassetteFiles;
    readonly normalize: CassetteOptions["normalize"];
  },
): Promise<LoadedCassette> {
  const name = String(file);
  const text = await files.read(file).catch((cause: unknown) => {
    throw new BadRequestError(`Cannot read cassette "${name}": ${getErrorMessage(cause)}`, {
      cause,
    });
  });
  if (text === undefined) {
    throw new BadRequestError(`Cannot read cassette "${name}": file not found; record it first`);
  }
  const { recordedAt, exchanges } = parseCassette(text, name);
  const checked = normalize && checkNormalize(normalize);
  return { recordedAt, exchanges: new RecordedExchanges(name, exchanges, checked) };
}
