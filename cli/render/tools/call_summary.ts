/**
 * The result of a tool call in one line.
 *
 * @module
 */

import type { AgentToolResult } from "../../../mod.ts";
import { extractText } from "../../../src/core/messages/content.ts";
import { PlainTextFilter, toOneLine } from "../plain_text.ts";
import type { Symbols } from "../theme/display.ts";
import { pluralize, shortenRefusal } from "../tool_line.ts";
import type { CallEnd, CallView } from "./call_view.ts";

/** State of a call. `warning`: a command that exited with an error. */
export type CallState = "running" | "success" | "warning" | "error";

/** Matches the first line of the result of a command. */
const EXIT_CODE = /^Exit code: (\d+)/;

/** Returns the text of a result without escape sequences; controls of the direction of text are code points. */
export function getResultText({ content }: AgentToolResult): string {
  return new PlainTextFilter({ bidi: "show" }).push(extractText(content).replaceAll("\r\n", "\n"));
}

/** Returns the state of a call. */
export function getCallState({ end }: CallView): CallState {
  if (!end) return "running";
  if (end.isError) return "error";
  const [, code = "0"] = EXIT_CODE.exec(getResultText(end.result)) ?? [];
  return code === "0" ? "success" : "warning";
}

/** Formats a result: its first line and the number of further ones; for a command, behind its exit code unless it is 0. */
export function summarizeResult(
  { result, isError }: CallEnd,
  { separator }: Pick<Symbols, "separator">,
): string {
  return listSummary(result, isError).map(toOneLine).join(` ${separator} `);
}

function listSummary(result: AgentToolResult, isError: boolean): string[] {
  const lines = shortenRefusal(getResultText(result)).split("\n").filter((line) =>
    line.trim() !== ""
  );
  const [first = "", second = ""] = lines;
  const media = result.content.filter(({ type }) => type !== "text").map(({ type }) => type);
  if (first === "") return [media.join(", ") || "no output"];
  // The reason follows on the next line.
  if (isError && first.endsWith(":")) return countRest([`${first} ${second}`], lines.length - 2);
  const [, code] = EXIT_CODE.exec(first) ?? [];
  if (code === undefined) return countRest([removeLineNumber(first)], lines.length - 1);
  if (code === "0") return second === "" ? ["no output"] : countRest([second], lines.length - 2);
  return countRest(second === "" ? [first] : [first, second], lines.length - 2);
}

/** Returns the last line of the output of a running call; empty if there is none. */
export function getLastLine(output: string): string {
  const text = new PlainTextFilter({ bidi: "show" }).push(output.slice(-MAX_OUTPUT));
  return toOneLine(text.split("\n").findLast((line) => line.trim() !== "") ?? "");
}

/** Characters at the end of the output of a running call that are searched for its last line. */
const MAX_OUTPUT = 10_000;

function countRest(parts: readonly string[], more: number): string[] {
  return more > 0 ? [...parts, `+${pluralize(more, "line")}`] : [...parts];
}

/** Removes the number at the beginning of a line of `read_file`. */
function removeLineNumber(line: string): string {
  return line.replace(/^\s*\d+\t/, "");
}
