/**
 * The actions of `swink rules` on the rules of the configuration.
 *
 * @module
 */

import { codingTools, createSandbox } from "../../src/tools/mod.ts";
import { changeKey } from "../config/config_actions.ts";
import { formatOrigin, listParts } from "../config/config_value.ts";
import type { Config } from "../config/load_config.ts";
import { UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { toPlainText } from "../render/plain_text.ts";
import { formatTable, getTableOptions } from "../render/table.ts";
import { loadCurrentConfig } from "../run/settings/configured_settings.ts";
import { resolveToolRules, splitRules, type ToolSelection } from "../run/settings/tool_rules.ts";
import { createGate } from "./create_gate.ts";

/** The effect of a rule. */
export type RuleEffect = "allow" | "deny";

const OPTIONS = { allow: "allowedTools", deny: "disallowedTools" } as const;

const KEYS: Readonly<Record<RuleEffect, string>> = {
  allow: "allowed_tools",
  deny: "disallowed_tools",
};

/** Lists the rules of the configuration, also invalid ones: forbidden calls first, because they precede all others. */
export async function listRules(host: Host): Promise<ExitCode> {
  const config = await loadCurrentConfig(host);
  const rows = (["deny", "allow"] as const).flatMap((effect) => listRows(config, effect));
  await host.terminal.output.write(formatTable(rows, getTableOptions(host)));
  if (rows.length === 0) {
    await host.terminal.messages.write("No rule: add one with swink rules add\n");
  }
  return ExitCode.ok;
}

/** Adds a rule to the user's file. */
export async function addRule(effect: RuleEffect, rule: string, host: Host): Promise<ExitCode> {
  const { added, isKnown } = await storeRule(effect, rule, { env: host.env });
  const end = isKnown ? "already exists" : "is added";
  await host.terminal.messages.write(`The rule ${effect} ${toPlainText(added)} ${end}\n`);
  return ExitCode.ok;
}

/** A rule in the user's file. */
export interface StoredRule {
  /** The rule, without blanks at its ends. */
  readonly added: string;
  /** Whether the file already had it. */
  readonly isKnown: boolean;
}

/** Options for `storeRule()`. */
export interface StoreRuleOptions extends Pick<Host, "env"> {
  /** Keeps the file as it is if it is aborted before the file is written. Default: it is not. */
  readonly signal?: AbortSignal;
}

/**
 * Writes a rule to the user's file.
 *
 * @throws {UsageError} If it is not one valid rule.
 * @throws {ConfigurationError} If the file cannot be changed.
 */
export async function storeRule(
  effect: RuleEffect,
  rule: string,
  { env, signal }: StoreRuleOptions,
): Promise<StoredRule> {
  const added = parseRule(rule);
  await checkRules({ allowedTools: [], disallowedTools: [], [OPTIONS[effect]]: [added] });
  let isKnown = false;
  await changeKey(KEYS[effect], (value) => {
    const rules = Array.isArray(value) ? value : [];
    isKnown = rules.includes(added);
    signal?.throwIfAborted();
    return isKnown ? rules : [...rules, added];
  }, { env, signal, extendsValue: true });
  return { added, isKnown };
}

/** Removes a rule from the user's file, also one that is invalid. */
export async function removeRule(effect: RuleEffect, rule: string, host: Host): Promise<ExitCode> {
  let removed = parseRule(rule, splitEntry);
  await changeKey(KEYS[effect], (value) => {
    const rules = Array.isArray(value) ? value.flatMap((text) => splitEntry(String(text))) : [];
    removed = findRule(removed, rules) ?? removed;
    const others = rules.filter((other) => other !== removed);
    if (others.length === rules.length) {
      throw new UsageError(
        `Your configuration has no rule ${effect} ${toPlainText(removed)}`,
        "List the rules, and where each is written, with: swink rules list",
      );
    }
    return others.length === 0 ? undefined : others;
  }, { env: host.env, extendsValue: true });
  await host.terminal.messages.write(`The rule ${effect} ${toPlainText(removed)} is removed\n`);
  return ExitCode.ok;
}

/** Returns a rule, or one with other blanks: a rule that is copied from a terminal may be broken into rows. */
function findRule(text: string, rules: readonly string[]): string | undefined {
  const joined = joinRows(text);
  return rules.find((rule) => rule === text) ?? rules.find((rule) => joinRows(rule) === joined);
}

function joinRows(rule: string): string {
  return rule.replaceAll(/\s+/g, " ");
}

/** @throws {UsageError} If a text is not one rule. */
function parseRule(text: string, split = splitRules): string {
  const [rule, ...others] = split(text);
  if (rule !== undefined && others.length === 0) return rule;
  throw new UsageError(`${JSON.stringify(text)} is not one rule`, "Example: bash(git log *)");
}

/** Returns the rules of an entry of the file; one whose parentheses do not match is a rule of its own. */
function splitEntry(text: string): string[] {
  try {
    return splitRules(text);
  } catch {
    return [text];
  }
}

/**
 * Checks rules as a run does.
 *
 * @throws {UsageError} If a tool is unknown, or a pattern is invalid.
 */
export async function checkRules(rules: ToolSelection): Promise<void> {
  await using sandbox = createSandbox({ cwd: Deno.cwd(), homeAccess: "allow" });
  createGate(resolveToolRules(rules, codingTools({ sandbox }), { isConfigured: false }), {
    sandbox,
    mode: "smart",
  });
}

/** Returns a row for each rule, with its effect and its source. */
function listRows({ settings }: Config, effect: RuleEffect): string[][] {
  const setting = settings.get(KEYS[effect]);
  return (setting ? listParts(setting) : []).flatMap(({ value, origin }) => {
    const rules = Array.isArray(value) ? value.flatMap((text) => splitEntry(String(text))) : [];
    return rules.map((rule) => [effect, rule, formatOrigin(origin)]);
  });
}
