/**
 * How a run is told of.
 *
 * @module
 */

import type { Host } from "../host.ts";
import { JsonReporter, StreamJsonReporter } from "../render/json_reporter.ts";
import type { Reporter } from "../render/reporter.ts";
import { getStyle } from "../render/style.ts";
import { TextReporter } from "../render/text_reporter.ts";
import type { RunSettings } from "./run_settings.ts";

/** The reporter that the settings ask for. */
export function createReporter(
  { outputFormat, patch }: Pick<RunSettings, "outputFormat" | "patch">,
  { terminal, env }: Host,
): Reporter {
  const { output, messages, columns } = terminal;
  switch (outputFormat) {
    case "json":
      return new JsonReporter(output);
    case "stream-json":
      return new StreamJsonReporter(output);
    case "text": {
      // Where the patch is what is asked for, the text is news about it.
      const text = patch === "-" ? messages : output;
      const style = getStyle(messages, env);
      const { isTerminal: live } = text;
      return new TextReporter({ text, lines: messages, live, style, columns, now: Date.now });
    }
  }
}
