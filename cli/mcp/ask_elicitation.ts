/**
 * Asks the user for data that a server requests.
 *
 * @module
 */

import type { JsonObject } from "../../mod.ts";
import type { McpElicitation, McpElicitationAnswer } from "../../src/mcp/mod.ts";
import type { Choice } from "../questions/choice.ts";
import { toOneLine } from "../render/plain_text.ts";
import type { Style } from "../render/style.ts";
import type { StyledLine } from "../render/styled_line.ts";
import { toVisibleText } from "../render/visible_text.ts";
import { type FormField, parseElicitationForm, parseFieldAnswer } from "./elicitation_form.ts";

/** Asks questions at a terminal. */
export interface ElicitationQuestions {
  /** Style of the questions. */
  readonly style: Style;
  /** Asks a question with fixed answers; `undefined` if the user closes it. */
  askChoice<Answer extends string>(
    choice: Choice<Answer>,
    signal: AbortSignal,
  ): Promise<Answer | undefined>;
  /** Asks for a line of text; `undefined` if the user closes the question. */
  askText(
    question: { readonly message: string; readonly initial?: string | undefined },
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Called before a question. Default: nothing. */
  notify?(text: string): void;
}

/** The answer, and why it was declined without the user. */
export interface DataAnswer {
  /** The answer. */
  readonly answer: McpElicitationAnswer;
  /** Why the user was not asked, as a sentence without a full stop. */
  readonly problem?: string;
}

/** Shows a request and asks the user, who can decline it. */
export async function askElicitation(
  request: McpElicitation,
  questions: ElicitationQuestions,
): Promise<DataAnswer> {
  const { server, type, signal } = request;
  const fields = type === "form" ? parseElicitationForm(request.schema) : undefined;
  if (type === "form" && !fields) {
    const problem = `MCP server ${server} asked for data that cannot be typed, which was declined`;
    return { answer: { type: "declined" }, problem };
  }
  questions.notify?.(`swink asks for data for ${toVisibleText(server)}`);
  const answer = await questions.askChoice(createQuestion(request, fields, questions), signal);
  if (answer === undefined) return { answer: { type: "cancelled" } };
  if (answer === "no") return { answer: { type: "declined" } };
  return { answer: fields ? await askFields(request, fields, questions) : { type: "accepted" } };
}

function createQuestion(
  request: McpElicitation,
  fields: readonly FormField[] | undefined,
  { style }: ElicitationQuestions,
): Choice<"yes" | "no"> {
  const asks = request.type === "url" ? "asks you to open a page" : "asks for data";
  return {
    details: [
      createLine(""),
      createLine(`? MCP server ${toVisibleText(request.server)} ${asks}`, style.name),
      ...quote(request.message),
      ...(request.type === "url" ? quote(request.url) : []),
      ...(fields ?? []).map((field) => createLine(`  ${formatField(field)}`)),
      createLine("  The text is that of the server. Give it no password and no key.", style.faint),
    ],
    message: request.type === "url" ? "Have you opened it? [y]es / [n]o" : "Answer? [y]es / [n]o",
    answers: ["yes", "no"],
  };
}

/** Asks for each field, and whether to send the answers. */
async function askFields(
  { server, signal }: McpElicitation,
  fields: readonly FormField[],
  questions: ElicitationQuestions,
): Promise<McpElicitationAnswer> {
  const content: Record<string, JsonObject[string]> = {};
  for (const field of fields) {
    const value = await askField(field, { questions, signal });
    if (value === undefined) return { type: "cancelled" };
    if (value.type === "value") define(content, field.name, value.value);
  }
  const { style } = questions;
  const answer = await questions.askChoice({
    details: [
      createLine(`? Data for MCP server ${toVisibleText(server)}`, style.name),
      ...fields.flatMap(({ name, label }) =>
        Object.hasOwn(content, name)
          ? quote(`${toOneLine(label)}: ${formatValue(content[name])}`)
          : []
      ),
    ],
    message: "Send? [y]es / [n]o",
    answers: ["yes", "no"],
  }, signal);
  if (answer === undefined) return { type: "cancelled" };
  return answer === "yes" ? { type: "accepted", content } : { type: "declined" };
}

/** Asks for a field until the answer is valid; `undefined` if the user closes the question. */
async function askField(
  field: FormField,
  { questions, signal }: { readonly questions: ElicitationQuestions; readonly signal: AbortSignal },
): Promise<Exclude<ReturnType<typeof parseFieldAnswer>, { type: "invalid" }> | undefined> {
  let hint = "";
  let initial = field.initial && toOneLine(toVisibleText(field.initial));
  for (;;) {
    const message = `${formatField(field)}${hint === "" ? "" : ` – ${hint}`}`;
    const line = await questions.askText({ message, initial }, signal);
    if (line === undefined) return undefined;
    const parsed = parseFieldAnswer(field, line);
    if (parsed.type !== "invalid") return parsed;
    ({ hint } = parsed);
    initial = undefined;
  }
}

/** Formats a field with what its answer may be, on one line. */
function formatField({ label, description, isRequired, kind }: FormField): string {
  const options = "options" in kind
    ? kind.options.map(({ label }, index) => `${index + 1} ${toOneLine(label)}`).join(", ")
    : "";
  const notes = [
    toOneLine(description),
    kind.type === "boolean" ? "yes or no" : options,
    isRequired ? "" : "optional",
  ].filter((note) => note !== "");
  const text = `${toOneLine(label)}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`;
  return toVisibleText(text);
}

function formatValue(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** Marks the rows of a text of the server, so that they cannot be mistaken for a question. */
function quote(text: string): StyledLine[] {
  return toVisibleText(text).split("\n").map((line) => ({ ...createLine(line), mark: "  │ " }));
}

function createLine(text: string, paint: StyledLine["paint"] = (row) => row): StyledLine {
  return { text, paint };
}

/** Defines a property, also one with the name `__proto__`. */
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
