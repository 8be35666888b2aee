/**
 * Selection of the reporter of a run.
 *
 * @module
 */

import type { AgentTool } from "../../../mod.ts";
import type { Host } from "../../host/host.ts";
import { findKeyboard } from "../../host/terminal.ts";
import { getTypedInput } from "../../questions/typed_input.ts";
import { JsonReporter, StreamJsonReporter } from "../../render/json_reporter.ts";
import type { Reporter } from "../../render/reporter.ts";
import { getStyle } from "../../render/style.ts";
import { TextReporter, type TextReporterOptions } from "../../render/text_reporter.ts";
import type { RunSettings } from "../settings/settings.ts";

/** Creates the reporter for the output format. */
export function createReporter(
  { outputFormat, patch, verbosity, baseUrl, schema }: Pick<
    RunSettings,
    "outputFormat" | "patch" | "verbosity" | "baseUrl" | "schema"
  >,
  host: Host,
  tools: readonly AgentTool[],
): Reporter {
  const { output, messages } = host.terminal;
  switch (outputFormat) {
    case "json":
      return new JsonReporter(output, messages);
    case "stream-json":
      return new StreamJsonReporter(output, messages);
    case "text": {
      // A patch on standard output moves the text to standard error.
      const text = patch === "-" ? messages : output;
      // An answer that must match a schema is complete or useless.
      const live = text.isTerminal && schema === undefined;
      const questions = findQuestions(host);
      return createTextReporter(host, { text, live, verbosity, baseUrl, tools, questions });
    }
  }
}

/** Returns the questions of the run, if a user can see them. */
function findQuestions({ terminal }: Host): TextReporterOptions["questions"] {
  const keyboard = findKeyboard(terminal);
  return keyboard && getTypedInput(keyboard);
}

/** Options for `createTextReporter()`. */
export interface CreateTextReporterOptions
  extends Pick<TextReporterOptions, "text" | "live" | "verbosity" | "baseUrl" | "questions"> {
  /** The tools of the run. */
  readonly tools: readonly AgentTool[];
}

/** Creates a reporter for users. */
export function createTextReporter(
  { terminal, env, now }: Host,
  { tools, ...options }: CreateTextReporterOptions,
): TextReporter {
  const { messages: lines } = terminal;
  const findTool = (name: string) => tools.find((candidate) => candidate.name === name);
  return new TextReporter({
    ...options,
    lines,
    terminal,
    hasStatus: lines.isTerminal && env("TERM") !== "dumb" && options.verbosity !== "quiet",
    style: getStyle(lines, env),
    home: env("HOME"),
    now,
    findTool,
    async previewDiff(name, args) {
      const tool = findTool(name);
      const { signal } = new AbortController();
      const changes = await tool?.preview?.(args, { signal }) ?? [];
      return changes.map(({ diff = "" }) => diff).join("");
    },
  });
}
