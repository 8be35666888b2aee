/**
 * The question about a tool call in a conversation.
 *
 * @module
 */

import type { FileChange } from "../../../mod.ts";
import type { GateRequest } from "../../../src/tools/mod.ts";
import { listHunks } from "../../../src/tools/mod.ts";
import type { Choice } from "../../questions/choice.ts";
import { toPlainText } from "../../render/plain_text.ts";
import { toVisibleText } from "../../render/visible_text.ts";
import { type CallDetailsOptions, formatCallDetails } from "../../run/approval/call_details.ts";

/**
 * An answer: once, for the session, for a command or directory in the session, for later sessions, after an edit, hunk by
 * hunk, no, no with a reason.
 */
export type QuestionAnswer =
  | "yes"
  | "always"
  | "prefix"
  | "save"
  | "edit"
  | "hunks"
  | "no"
  | "reason";

/** Options for `createApprovalQuestion()`. */
export interface ApprovalQuestionOptions extends CallDetailsOptions {
  /** Whether the user has edited the call, whose hunks cannot be selected then. */
  readonly isEdited: boolean;
  /** Whether the user can approve all calls of the tool. */
  readonly canTrustTool: boolean;
  /** The beginning of similar commands, or the directory, that the user can approve; `undefined` for none. */
  readonly prefix: string | undefined;
  /** Whether the user can save a rule for later sessions. */
  readonly canSave: boolean;
}

/** Creates the question. */
export function createApprovalQuestion(
  request: GateRequest,
  options: ApprovalQuestionOptions,
): Choice<QuestionAnswer> {
  const answers = listAnswers(request, options);
  const labels: Readonly<Record<QuestionAnswer, string>> = {
    yes: "[y]es",
    always: `[a]lways ${toPlainText(request.name)}`,
    prefix: `[p]refix ${JSON.stringify(toVisibleText(options.prefix ?? ""))}`,
    save: "[s]ave a rule",
    edit: "[e]dit",
    hunks: "[h]unks",
    no: "[n]o",
    reason: "no with [r]eason",
  };
  return {
    details: formatCallDetails(request, {
      ...options,
      notes: [{ text: `risk: ${request.risk}`, paint: options.style.faint, mark: "  " }],
    }),
    message: `Allow? ${answers.map((answer) => labels[answer]).join(" / ")}`,
    answers,
  };
}

function listAnswers(
  request: GateRequest,
  { isEdited, canTrustTool, prefix, canSave }: Pick<
    ApprovalQuestionOptions,
    "isEdited" | "canTrustTool" | "prefix" | "canSave"
  >,
): QuestionAnswer[] {
  const hasHunks = !isEdited && request.tool.omitHunks !== undefined &&
    countHunks(request.changes ?? []) > 1;
  return [
    "yes",
    ...(canTrustTool ? ["always" as const] : []),
    ...(prefix === undefined ? [] : ["prefix" as const]),
    ...(canSave ? ["save" as const] : []),
    "edit",
    ...(hasHunks ? ["hunks" as const] : []),
    "no",
    "reason",
  ];
}

function countHunks(changes: readonly FileChange[]): number {
  return changes.reduce((count, change) => count + listHunks(change).length, 0);
}

/**
 * Returns the prefix that probably covers similar calls: the first words of a command, or the directory of a path;
 * `undefined` for a call without a command and without a path.
 */
export function suggestPrefix(
  { arguments: args }: Pick<GateRequest, "arguments">,
): string | undefined {
  if (typeof args.command === "string") return suggestCommandPrefix(args.command);
  if (typeof args.path !== "string") return undefined;
  const [, directory = "."] = /^(.*[^/])\/+[^/]*$/.exec(args.path) ?? [];
  return directory;
}

/** Programs whose first argument is a subcommand. */
const PROGRAMS_WITH_SUBCOMMANDS = new Set(
  "apt brew bun bundle cargo composer deno docker dotnet gh git go gradle helm kubectl make mix mvn npm npx pip pip3 pnpm poetry rake rustup swift systemctl terraform uv yarn"
    .split(" "),
);

/** Subcommands whose first argument is the name of a script. */
const SCRIPT_RUNNERS = new Set(["exec", "run", "run-script", "task", "x"]);

/** Programs that run the code, or the program, in their arguments. */
const INTERPRETERS =
  /^(?:i?python[\d.]*|pypy\d*|node|deno|bun|ruby|perl|php|tsx|ts-node|vite-node|babel-node|zx|pwsh|(?:ba|da|z)?sh|env|xargs|nice|timeout|watch|npm|npx|pnpm|yarn|uv|cross-env(?:-shell)?|dotenv(?:-cli)?|dotenvx|env-cmd|start-server-and-test|nx|pm2|nodemon|concurrently|c8|nyc|coverage|lerna)$/;

/** Subcommands with subcommands of their own. */
const GROUPS = /^docker (?:compose|container)$/;

/** The beginnings of commands that run any program: in a container, of a package or with other tools. */
const RUNS_ANY =
  /^(?:docker (?:(?:compose|container) )?(?:create|debug|exec|run)|docker (?:(?:compose|container)$|sandbox|service)|kubectl (?:debug|exec|run)|rustup run|(?:pnpm|yarn) dlx|yarn workspaces?|npm explore|uv tool|deno eval|gh codespace|cargo watch|mix cmd)(?: |$)/;

/**
 * Returns the beginning of a command up to its subcommand or script, as in `git log` and `npm run build`; all of another
 * command, whose arguments decide what it does. A command of several parts has no common prefix.
 */
function suggestCommandPrefix(command: string): string | undefined {
  if (/[\n;&|<>$`(){}]/.test(command)) return undefined;
  const words = command.trim().split(/\s+/);
  const [program = "", subcommand = "", script = ""] = words;
  if (program === "") return undefined;
  const start = [program, subcommand];
  const hasScript = SCRIPT_RUNNERS.has(subcommand) || GROUPS.test(start.join(" "));
  if (hasScript && script !== "") start.push(script);
  const isStart = PROGRAMS_WITH_SUBCOMMANDS.has(program) && !RUNS_ANY.test(start.join(" ")) &&
    start.slice(1).every((word) => isName(word) && !INTERPRETERS.test(word));
  if (isStart) return start.join(" ");
  return /['"\\]/.test(command) ? command.trim() : words.join(" ");
}

function isName(word: string): boolean {
  return /^[a-z][\w:.-]*$/i.test(word);
}
