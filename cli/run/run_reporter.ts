/**
 * Selection of the reporter of a run.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import { JsonReporter, StreamJsonReporter } from "../render/json_reporter.ts";
import type { Reporter } from "../render/reporter.ts";
import { getStyle } from "../render/style.ts";
import { TextReporter } from "../render/text_reporter.ts";
import type { RunSettings } from "./settings.ts";

/** Creates the reporter for the output format. */
export function createReporter(
  { outputFormat, patch }: Pick<RunSettings, "outputFormat" | "patch">,
  { terminal, env, now }: Host,
): Reporter {
  const { output, messages, columns } = terminal;
  switch (outputFormat) {
    case "json":
      return new JsonReporter(output);
    case "stream-json":
      return new StreamJsonReporter(output);
    case "text": {
      // A patch on standard output moves the text to standard error.
      const text = patch === "-" ? messages : output;
      const style = getStyle(messages, env);
      const { isTerminal: live } = text;
      return new TextReporter({ text, lines: messages, live, style, columns, now });
    }
  }
}
