/**
 * `swink rules`: the rules for tool calls.
 *
 * @module
 */

import { type ArgumentDefinition, defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";

const { ok, usage, configuration } = ExitCode;

const EFFECT: ArgumentDefinition = {
  name: "effect",
  description: "allow: matching calls need no approval; deny: they are forbidden.",
  choices: ["allow", "deny"],
};

const RULE: ArgumentDefinition = {
  name: "rule",
  description: "Name of a tool, or a name with a pattern: bash(git log *).",
};

const list = defineCommand({
  name: "list",
  summary: "Lists the rules of the configuration, and where each is written",
  examples: [["swink rules list", "with the file of each rule"]],
  exitCodes: [ok, configuration],
  async action(_invocation, host) {
    const { listRules } = await loadActions();
    return await listRules(host);
  },
});

const add = defineCommand({
  name: "add",
  summary: "Adds a rule to the configuration file of the user",
  arguments: [EFFECT, RULE],
  examples: [
    ["swink rules add allow 'bash(deno test *)'", "runs the tests without asking"],
    ["swink rules add deny 'bash(git push *)'", "never pushes"],
  ],
  exitCodes: [ok, usage, configuration],
  async action({ arguments: [effect = "", rule = ""] }, host) {
    const { addRule } = await loadActions();
    return await addRule(effect === "deny" ? "deny" : "allow", rule, host);
  },
});

const remove = defineCommand({
  name: "remove",
  summary: "Removes a rule from the configuration file of the user",
  arguments: [EFFECT, RULE],
  examples: [["swink rules remove allow 'bash(deno test *)'", "asks about these commands again"]],
  exitCodes: [ok, usage, configuration],
  async action({ arguments: [effect = "", rule = ""] }, host) {
    const { removeRule } = await loadActions();
    return await removeRule(effect === "deny" ? "deny" : "allow", rule, host);
  },
});

const why = defineCommand({
  name: "why",
  summary: "Prints what would be decided about a call, and by which rule",
  arguments: [{ name: "tool", description: "Name of the tool." }, {
    name: "call",
    description: "The command, the path or the pattern of the call, or all arguments as JSON.",
  }],
  examples: [["swink rules why bash 'git push origin main'", "explains a command"]],
  exitCodes: [ok, usage, configuration],
  async action({ arguments: [tool = "", call = ""] }, host) {
    const { explainCall } = await importLate<typeof import("../rules/explain_call.ts")>(
      "../rules/explain_call.ts",
      import.meta.url,
    );
    return await explainCall(tool, call, host);
  },
});

/** `swink rules`. */
export const rules = defineCommand({
  name: "rules",
  summary: "Lists, adds, removes and explains the rules for tool calls",
  synonyms: {
    ls: "list",
    show: "list",
    rm: "remove",
    delete: "remove",
    explain: "why",
    check: "why",
    test: "why",
  },
  commands: [list, add, remove, why],
  exitCodes: [ok, usage, configuration],
});

function loadActions(): Promise<typeof import("../rules/rule_actions.ts")> {
  return importLate("../rules/rule_actions.ts", import.meta.url);
}
