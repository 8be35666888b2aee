/**
 * Records the requests and responses of `fetch`, and replays them without a network.
 *
 * {@linkcode recordFetch} wraps a `fetch` and writes each request with its response to a file, a _cassette_, without
 * keys, tokens and cookies. {@linkcode replayCassette} returns a `fetch` that answers the same requests from that file,
 * with the same bytes in the same chunks. Every adapter of this package takes a `fetch`, so a test can run an agent
 * against a real model once and offline afterwards.
 *
 * @example
 * ```ts
 * import { recordFetch, replayCassette } from "@swink/agent/cassettes";
 *
 * const cassette = `${await Deno.makeTempDir()}/greeting.jsonl`;
 * const url = "https://api.example.com/greeting";
 *
 * // Replaces `globalThis.fetch`, so that the example needs no network.
 * const network = () => Promise.resolve(new Response("Hello"));
 * {
 *   await using fetch = recordFetch(network, cassette);
 *   await (await fetch(url)).text();
 * }
 *
 * const fetch = replayCassette(cassette);
 * const response = await fetch(url);
 * await response.text(); // "Hello"
 * fetch.assertDone(); // every recorded exchange was replayed
 * ```
 *
 * @module
 */

export type { CassetteFiles, CassettePath } from "./cassette_files.ts";
export { recordFetch, type RecordingFetch, type RecordOptions } from "./record_fetch.ts";
export { type CassetteFetch, type CassetteOptions, replayCassette } from "./replay_cassette.ts";
