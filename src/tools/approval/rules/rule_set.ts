/**
 * Sets of approval rules from configuration files and options.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../../core/errors/errors.ts";
import { isJsonObject } from "../../../core/json/json.ts";
import { type ApprovalRule, parseApprovalRule } from "./approval_rules.ts";

/** Rules for tool calls, such as `read_file`, `edit_file(src/**)`, `bash(git log *)`; `deny` wins, then `ask`. */
export interface RuleSet {
  /** Where the rules are written, such as the path of a file; part of each decision that one of them makes. */
  readonly source: string;
  /**
   * `user`: all rules apply. `project`: those that come with the work tree, which others may have written; its `allow`
   * rules are ignored, since it must not widen what the user allows. Default: `"user"`.
   */
  readonly authority?: "user" | "project" | undefined;
  /** Calls that are approved without a prompt. */
  readonly allow?: readonly string[] | undefined;
  /** Calls that are submitted to the prompt, also if a rule allows them. */
  readonly ask?: readonly string[] | undefined;
  /** Calls that are denied, in every mode. For `bash`, one matching part of a command is enough. */
  readonly deny?: readonly string[] | undefined;
}

const RULE_LISTS = ["allow", "ask", "deny"] as const;

/**
 * Reads a rule set from the text of a JSON file: an object with the lists `allow`, `ask` and `deny`.
 *
 * @throws {BadRequestError} If the text is not JSON, has another property or a list twice, or a rule is invalid.
 *
 * @example
 * ```ts
 * import { parseRuleSet } from "@swink/agent/tools";
 *
 * const text = '{ "allow": ["bash(deno test *)"], "deny": ["bash(git push *)"] }';
 * const rules = parseRuleSet(text, { source: "rules.json", authority: "user" });
 * ```
 */
export function parseRuleSet(
  text: string,
  { source, authority }: Pick<RuleSet, "source" | "authority">,
): RuleSet {
  const value = parseJson(text, source);
  const fail = (problem: string) => new BadRequestError(`${source}: ${problem}`);
  if (!isJsonObject(value)) throw fail('write an object such as { "allow": ["bash(git log *)"] }');
  const repeated = findRepeatedList(text);
  if (repeated !== undefined) throw fail(`"${repeated}" is written twice: write one list`);
  const { allow, ask, deny, $schema: _, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw fail(`"${unknown}" is unknown: write "allow", "ask" or "deny"`);
  }
  const lists = { allow, ask, deny };
  for (const name of RULE_LISTS) {
    const { [name]: list } = lists;
    if (list !== undefined && !isTextList(list)) throw fail(`"${name}" must be a list of rules`);
  }
  const rules: RuleSet = {
    source,
    authority,
    ...lists as Pick<RuleSet, typeof RULE_LISTS[number]>,
  };
  compileRuleSet(rules);
  return rules;
}

/** Returns the name of a list that JSON has twice, of which the first one would be lost. */
function findRepeatedList(text: string): string | undefined {
  // In a text of JSON, a quotation mark is escaped.
  const names = [...text.matchAll(/(?<!\\)"(allow|ask|deny)"\s*:/g)].map(([, name]) => name);
  return names.find((name, index) => names.indexOf(name) !== index);
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadRequestError(`${source} is not valid JSON: ${getErrorMessage(error)}`);
  }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** A rule and where it is written. */
export interface SourcedRule extends ApprovalRule {
  /** The source of its set; missing for rules of the options of a gate. */
  readonly ruleSource?: string | undefined;
}

/** The rules of several sets, of which those of the first set come first. */
export interface CompiledRules {
  readonly allow: readonly SourcedRule[];
  readonly ask: readonly SourcedRule[];
  readonly deny: readonly SourcedRule[];
}

/** A rule set whose source is missing if its rules are options. */
export type AnyRuleSet = Omit<RuleSet, "source"> & { readonly source?: string };

/** Compiles rule sets. @throws {BadRequestError} When a rule is invalid; the message names it and its source. */
export function compileRuleSets(sets: readonly AnyRuleSet[]): CompiledRules {
  const compiled = sets.map(compileRuleSet);
  return {
    allow: compiled.flatMap(({ allow }) => allow),
    ask: compiled.flatMap(({ ask }) => ask),
    deny: compiled.flatMap(({ deny }) => deny),
  };
}

function compileRuleSet(rules: AnyRuleSet): CompiledRules {
  const { source, authority = "user", allow = [], ask = [], deny = [] } = rules;
  const compile = (rule: string): SourcedRule => ({
    ...parseSourcedRule(rule, source),
    ruleSource: source,
  });
  return {
    // Compiled too, so that an invalid rule is reported.
    allow: allow.map(compile).filter(() => authority === "user"),
    ask: ask.map(compile),
    deny: deny.map(compile),
  };
}

function parseSourcedRule(rule: string, source: string | undefined): ApprovalRule {
  if (source === undefined) return parseApprovalRule(rule);
  try {
    return parseApprovalRule(rule);
  } catch (error) {
    throw new BadRequestError(`${source}: ${getErrorMessage(error)}`);
  }
}
