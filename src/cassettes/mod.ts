/**
 * Record what goes through `fetch`, and replay it without a network.
 *
 * @module
 */

export type { CassetteFiles, CassettePath } from "./cassette_files.ts";
export { recordFetch, type RecordingFetch, type RecordOptions } from "./record_fetch.ts";
export { type CassetteFetch, type CassetteOptions, replayCassette } from "./replay_cassette.ts";
