/**
 * Approval of tool calls by the user of a conversation.
 *
 * @module
 */

import type { ApprovalDecision, FileChange, JsonObject, RefusedHunks } from "../../../mod.ts";
import { getRisk } from "../../../src/core/approval/risk.ts";
import { getErrorMessage } from "../../../src/core/errors/errors.ts";
import { isJsonObject } from "../../../src/core/json/json.ts";
import {
  type ApprovalPrompt,
  assessCommand,
  type GateRequest,
  listHunks,
} from "../../../src/tools/mod.ts";
import { formatDiffLines } from "../../render/diff_lines.ts";
import type { Style } from "../../render/style.ts";
import type { StyledLine } from "../../render/styled_line.ts";
import { USER_DENIAL } from "../../render/tool_line.ts";
import { toVisibleText } from "../../render/visible_text.ts";
import { canTrustTool } from "../../run/approval/can_trust_tool.ts";
import type { QuestionPosition } from "../../run/approval/call_details.ts";
import { SavedRules, type SavedRulesOptions } from "../../run/approval/saved_rules.ts";
import { WaitingCalls, type WaitingCallsOptions } from "../../run/approval/waiting_calls.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import { toMessage } from "../view/lines.ts";
import { createApprovalQuestion, type QuestionAnswer } from "./approval_question.ts";
import { findPrefix } from "./find_prefix.ts";

/** Options for `createApprovalPrompt()`. */
export interface ApprovalPromptOptions extends WaitingCallsOptions, SavedRulesOptions {
  /** The terminal. */
  readonly view: ConversationView;
  /** Style of the questions. */
  readonly style: Style;
  /** Lets the user edit a text in another program; `undefined` if the text was not changed. */
  readonly editText: (text: string, extension: string) => Promise<string | undefined>;
  /** Formats changes of files. Default: they are shown as unified diffs. */
  readonly formatChanges?:
    | ((changes: readonly FileChange[]) => Promise<readonly StyledLine[]>)
    | undefined;
  /** Called with the id of each call that the user was asked about. */
  readonly onAsked: (toolCallId: string) => void;
}

/** Creates the prompt that shows each call and asks. */
export function createApprovalPrompt(options: ApprovalPromptOptions): ApprovalPrompt {
  const waiting = new WaitingCalls(options);
  const savedRules = new SavedRules(options);
  return async (request) => {
    const approved = await savedRules.approve(request);
    if (approved) return approved;
    options.onAsked(request.toolCallId);
    options.view.notify({ type: "asked", text: `swink asks about ${request.name}` });
    const position = await waiting.countQuestion(request);
    return await new CallQuestion({ ...options, savedRules, position }).ask(request);
  };
}

/** A decision; `undefined` if the user has cancelled a part of the answer. */
type Answered = ApprovalDecision | undefined;

/** Options of the questions about one call. */
interface CallQuestionOptions extends ApprovalPromptOptions {
  readonly savedRules: SavedRules;
  readonly position: QuestionPosition;
}

/** The questions about one call. */
class CallQuestion {
  readonly #options: CallQuestionOptions;

  constructor(options: CallQuestionOptions) {
    this.#options = options;
  }

  /** Asks about a call; `edited` are its arguments if the user has edited them. */
  async ask(request: GateRequest, edited?: JsonObject): Promise<ApprovalDecision> {
    const { view, host, style, formatChanges, sandbox, savedRules, position } = this.#options;
    const columns = Math.min(view.columns, host.terminal.columns);
    const prefix = await findPrefix(request, sandbox);
    const rule = edited ? undefined : await savedRules.find(request);
    const question = createApprovalQuestion(request, {
      style,
      columns,
      diff: await formatChanges?.(request.changes ?? []),
      position,
      isEdited: edited !== undefined,
      canTrustTool: await canTrustTool(request.name, sandbox),
      prefix,
      canSave: rule !== undefined,
    });
    for (;;) {
      const answer = await view.askChoice(question, request.signal);
      // The answer to a question that an abort has closed is no answer of the user.
      if (answer === undefined) return { type: "denied", reason: USER_DENIAL };
      const decision = await this.#decide(answer, request, { prefix, rule });
      if (decision === "edited") return await this.#edit(request, edited);
      if (decision) return edited ? addArguments(decision, edited) : decision;
    }
  }

  /** Returns the decision for an answer, or that the user edits the call. */
  async #decide(
    answer: QuestionAnswer,
    request: GateRequest,
    { prefix, rule }: { readonly prefix: string | undefined; readonly rule: string | undefined },
  ): Promise<Answered | "edited"> {
    switch (answer) {
      case "yes":
        return { type: "approved" };
      case "always":
        return { type: "approved", scope: "tool" };
      case "prefix":
        return await this.#askPrefix(request, prefix);
      case "save":
        return rule === undefined ? undefined : await this.#saveRule(request, rule);
      case "edit":
        return "edited";
      case "hunks":
        return await this.#askHunks(request);
      case "no":
        return { type: "denied", reason: USER_DENIAL };
      case "reason":
        return await this.#askReason(request);
    }
  }

  async #askPrefix(request: GateRequest, initial: string | undefined): Promise<Answered> {
    const message = typeof request.arguments.command === "string"
      ? "Commands that begin with these words"
      : "Files in";
    const prefix = await this.#options.view.askText({ message, initial }, request.signal);
    if (!prefix?.trim()) return undefined;
    return { type: "approved", scope: "prefix", prefix: prefix.trim() };
  }

  async #saveRule(request: GateRequest, rule: string): Promise<Answered> {
    const { view, savedRules } = this.#options;
    return await savedRules.save(rule, request, {
      askChoice: (choice) => view.askChoice(choice, request.signal),
      print: (kind, text) => view.print(toMessage(kind, text, view)),
    });
  }

  async #askReason(request: GateRequest): Promise<Answered> {
    const reason = await this.#options.view.askText({ message: "Reason" }, request.signal);
    if (!reason?.trim()) return undefined;
    return { type: "denied", reason: `${USER_DENIAL}: ${reason.trim()}` };
  }

  /** Asks about each hunk. Refuses the call if all of them are refused. */
  async #askHunks(request: GateRequest): Promise<Answered> {
    const { view, style } = this.#options;
    const hunks = (request.changes ?? []).flatMap((change) =>
      listHunks(change).map((hunk) => ({ path: change.path, hunk }))
    );
    const refused: RefusedHunks[] = [];
    for (const [index, { path, hunk }] of hunks.entries()) {
      const head = `? hunk ${index + 1} of ${hunks.length}: ${toVisibleText(path)}`;
      const answer = await view.askChoice({
        details: [{ text: head, paint: style.name }, ...formatDiffLines(hunk, style)],
        message: "Apply? [y]es / [n]o / [c]ancel",
        answers: ["yes", "no", "cancel"],
      }, request.signal);
      if (answer === undefined || answer === "cancel") return undefined;
      if (answer === "no") refused.push({ path, hunks: [hunk] });
    }
    if (refused.length === 0) return { type: "approved" };
    if (refused.length === hunks.length) return { type: "denied", reason: USER_DENIAL };
    return { type: "approved", refusedHunks: mergeHunks(refused) };
  }

  /** Lets the user edit the arguments, which may have been edited before, and asks about the edited call. */
  async #edit(request: GateRequest, earlier: JsonObject | undefined): Promise<ApprovalDecision> {
    const { view, editText } = this.#options;
    const { arguments: args, tool, signal } = request;
    const isCommand = typeof args.command === "string" && Object.keys(args).length === 1;
    const text = isCommand ? String(args.command) : `${JSON.stringify(args, null, 2)}\n`;
    const edited = await editText(text, isCommand ? ".sh" : ".json").catch(async (error) => {
      await view.print(toMessage("error", getErrorMessage(error), view));
    });
    if (edited === undefined) return await this.ask(request, earlier);
    const changed = isCommand ? { command: edited.trim() } : parseArguments(edited);
    if (!changed) {
      await view.print(
        toMessage("error", "The text is no JSON object, so the call stays as it was", view),
      );
      return await this.ask(request, earlier);
    }
    const { assessment: _assessment, changes: _changes, ...call } = request;
    const changes = await tool.preview?.(changed, { signal }).catch(() => undefined);
    const assessed = await assessEdited({ ...call, arguments: changed });
    return await this.ask({ ...assessed, ...(changes && { changes }) }, changed);
  }
}

/** Returns an edited call with its risk and dangers instead of those of the call that the gate has asked about. */
async function assessEdited(request: GateRequest): Promise<GateRequest> {
  const { name, arguments: args, tool } = request;
  const isCommand = name === "bash" && typeof args.command === "string";
  return {
    ...request,
    risk: await getRisk(tool, args),
    cause: "mode",
    ...(isCommand && { assessment: assessCommand(String(args.command)) }),
  };
}

function addArguments(decision: ApprovalDecision, edited: JsonObject): ApprovalDecision {
  return decision.type === "approved" ? { ...decision, arguments: edited } : decision;
}

function parseArguments(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Joins the hunks of the same file. */
function mergeHunks(refused: readonly RefusedHunks[]): RefusedHunks[] {
  const byPath = Map.groupBy(refused, ({ path }) => path);
  return Array.from(byPath, ([path, parts]) => ({
    path,
    hunks: parts.flatMap(({ hunks }) => hunks),
  }));
}
