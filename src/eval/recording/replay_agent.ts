/**
 * Answers the requests of an agent from the recording of another run.
 *
 * @module
 */

import { decodeUtf8 } from "../../cassettes/cassette_bytes.ts";
import type { CassettePath } from "../../cassettes/cassette_files.ts";
import { createOutgoingRequest } from "../../cassettes/cassette_request.ts";
import { checkNormalize } from "../../cassettes/check_normalize.ts";
import { type CassetteFetch, replayCassette } from "../../cassettes/replay_cassette.ts";
import { parseJsonOrUndefined } from "../../core/json/parse_json.ts";
import { normalizePlaces, normalizeText } from "./normalize_text.ts";

/** Options for `replayAgent()`. */
export interface ReplayAgentOptions {
  /** Further texts that must be those of the recording, such as the messages of the user. Default: none. */
  readonly prompts?: readonly string[] | undefined;
  /** Replaces further parts of texts that differ in each run. */
  readonly normalize?: ((text: string) => string) | undefined;
}

/** The connections of an agent and of its evaluators. */
export interface AgentReplay {
  /** Answers the requests of the agent. */
  readonly fetch: CassetteFetch;
  /** Answers requests that contain the work of the agent, such as those of judges. */
  readonly evaluatorFetch: CassetteFetch;
}

/**
 * Replays a cassette for an agent. Results of tools contain times, durations and hashes, which differ in each run and are
 * ignored. Every number of a prompt or of a tool counts: the texts of the first request of the agent, which has no results
 * yet, must be those of the recording.
 */
export function replayAgent(file: CassettePath, options: ReplayAgentOptions = {}): AgentReplay {
  const { prompts = [] } = options;
  const normalize = checkNormalize(options.normalize ?? ((text) => text));
  const reduce = (text: string) => normalizePlaces(normalize(text));
  const fixed = new Set(prompts.map(reduce));
  // Each request repeats the texts of the earlier ones.
  const normalized = new Map<string, string>();
  const normalizeOnce = (text: string) => {
    const known = normalized.get(text);
    if (known !== undefined) return known;
    const reduced = reduce(text);
    const result = fixed.has(reduced) ? reduced : normalizeText(reduced);
    normalized.set(text, result);
    return result;
  };
  const player = replayCassette(file, { normalize: normalizeOnce });
  let hasFirst = false;
  const replay = async (...request: Parameters<CassetteFetch>): Promise<Response> => {
    if (hasFirst) return await player(...request);
    const { body, fetchArguments } = await createOutgoingRequest(...request);
    const json = parseJsonOrUndefined(decodeUtf8(body) ?? "");
    // A request for an access token has a form.
    if (json !== undefined && !hasFirst) {
      hasFirst = true;
      for (const text of findTexts(json)) fixed.add(reduce(text));
      normalized.clear();
    }
    return await player(...fetchArguments);
  };
  return { fetch: Object.assign(replay, player), evaluatorFetch: player };
}

/** Returns all texts in a value, except for the names of members. */
function findTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(findTexts);
}
