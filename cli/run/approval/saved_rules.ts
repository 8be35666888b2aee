/**
 * The answer that saves a rule, so that later sessions do not ask about such calls.
 *
 * @module
 */

import type { ApprovalDecision } from "../../../mod.ts";
import { getErrorMessage } from "../../../src/core/errors/errors.ts";
import type { GateRequest, Sandbox } from "../../../src/tools/mod.ts";
import { getUserConfigPath } from "../../config/config_files.ts";
import { CliError } from "../../host/cli_error.ts";
import type { Host } from "../../host/host.ts";
import { importLate } from "../../host/import_late.ts";
import {
  getProgramDirectories,
  requireProgramDirectories,
} from "../../host/program_directories.ts";
import type { LoadedProject } from "../../project/load_project.ts";
import { type Choice, toLines, toSentenceLines } from "../../questions/choice.ts";
import { findSavableRule } from "./savable_rule.ts";

/** The widest text that is easy to read. */
const MAX_COLUMNS = 64;

/** Options for {@linkcode SavedRules}. */
export interface SavedRulesOptions {
  /** The project. No rule is saved where its configuration is not used, or the user does not trust it. */
  readonly project: Pick<LoadedProject, "root" | "ignored"> | undefined;
  /** The sandbox of commands. */
  readonly sandbox: Sandbox;
  /** The environment, which determines where the configuration is, and the terminal. */
  readonly host: Pick<Host, "env" | "terminal">;
}

/** Asks the user, and shows messages. */
export interface RuleQuestions {
  /** Asks a question; `undefined` if the user gives no answer. */
  readonly askChoice: <Answer extends string>(
    choice: Choice<Answer>,
  ) => Promise<Answer | undefined>;
  /** Shows a message. */
  readonly print: (kind: "notice" | "error", text: string) => Promise<void>;
}

/** The rules that the user saves during a session. */
export class SavedRules {
  readonly #options: SavedRulesOptions;
  readonly #saved: string[] = [];

  constructor(options: SavedRulesOptions) {
    this.#options = options;
  }

  /** Returns the rule that the user can save for a call; `undefined` if there is none. */
  async find(call: GateRequest): Promise<string | undefined> {
    return this.#canSave() ? await findSavableRule(call, this.#options.sandbox) : undefined;
  }

  /** Whether later sessions in this environment would have a rule of the user's file. */
  #canSave(): boolean {
    const { project, host: { env } } = this.#options;
    // With --bare there is no project, and no file is read.
    if (!project || project.root === null || project.ignored.length > 0) return false;
    // The variable replaces the rules of all files.
    const isReplaced = (env("SWINK_ALLOWED_TOOLS") ?? "") !== "";
    return !isReplaced && getProgramDirectories(env) !== undefined;
  }

  /** Returns the approval of a call by a rule that was saved in this session, whose gate does not have it. */
  async approve(call: GateRequest): Promise<ApprovalDecision | undefined> {
    const rule = this.#saved.length === 0 ? undefined : await this.find(call);
    if (rule === undefined || !this.#saved.includes(rule)) return undefined;
    return { type: "approved", origin: "rule", rule, ruleSource: "configuration" };
  }

  /**
   * Saves the rule of a call after a question. If that fails, nothing is saved, and the call is approved once.
   *
   * @returns `undefined` if the user does not want the rule, or the run is aborted.
   */
  async save(
    rule: string,
    { name, signal }: Pick<GateRequest, "name" | "signal">,
    { askChoice, print }: RuleQuestions,
  ): Promise<ApprovalDecision | undefined> {
    const { columns } = this.#options.host.terminal;
    if (await askChoice(createQuestion(rule, columns)) !== "yes") return undefined;
    const problem = await this.#store(rule, signal);
    if (signal.aborted) return undefined;
    if (problem !== undefined) {
      await print("error", `The rule is not saved, and the call runs once: ${problem}`);
      return { type: "approved" };
    }
    this.#saved.push(rule);
    await print("notice", `Saved in ${this.#getFile()}`);
    await print("notice", `swink rules remove allow '${rule}' removes it`);
    return name === "bash" ? { type: "approved" } : { type: "approved", scope: "tool" };
  }

  /** Writes a rule to the user's file. Returns why that failed; `undefined` if it did not. */
  async #store(rule: string, signal: AbortSignal): Promise<string | undefined> {
    const { storeRule } = await importLate<typeof import("../../rules/rule_actions.ts")>(
      "../../rules/rule_actions.ts",
      import.meta.url,
    );
    try {
      await storeRule("allow", rule, { env: this.#options.host.env, signal });
      return undefined;
    } catch (error) {
      const advice = error instanceof CliError && error.advice !== "" ? `. ${error.advice}` : "";
      return `${getErrorMessage(error)}${advice}`;
    }
  }

  #getFile(): string {
    const { host: { env } } = this.#options;
    return getUserConfigPath(requireProgramDirectories("the configuration", env));
  }
}

function createQuestion(rule: string, columns: number): Choice<"yes" | "no"> {
  const effect = rule.startsWith("bash(")
    ? "Later sessions run this command without a question, in every directory and with any input, also where nothing confines it."
    : `Later sessions run all calls of ${rule} without a question, in every directory.`;
  return {
    details: [
      ...toLines([`? Rule: allow ${rule}`]),
      ...toSentenceLines(effect, Math.min(columns, MAX_COLUMNS)),
    ],
    message: "Save? [y]es / [n]o",
    answers: ["yes", "no"],
  };
}
