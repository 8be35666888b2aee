/**
 * Stop texts of white space, which Claude models reject, at Anthropic and Bedrock.
 *
 * @module
 */

import type { StreamOptions } from "../../src/core/streams/stream.ts";
import type { WarningSink } from "../kit/request/warnings.ts";

/** Returns options without the stop texts that are blank, such as `"\n"`, which are omitted with a warning. */
export function omitBlankStop(options: StreamOptions, sink: WarningSink): StreamOptions {
  const { stop = [] } = options;
  const accepted = stop.filter((text) => text.trim() !== "");
  if (accepted.length === stop.length) return options;
  const message = "Claude models accept no stop texts that are blank";
  sink.warning("stop_left_out", `${message}: ${stop.length - accepted.length} omitted`);
  return { ...options, stop: accepted.length > 0 ? accepted : undefined };
}
