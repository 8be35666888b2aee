/**
 * The steps of a script, each of which runs in the directory where the ones before it have left the shell.
 *
 * @module
 */

import { parse, type PipelineNode, type SyntaxNode } from "unbash";
import { walkTree } from "../shell/shell_tree.ts";

/** A part of a script that is no list. */
export interface ScriptStep {
  readonly text: string;
  /** `command`: a simple command; `subshell`: one in which commands move only its own shell; `other`: anything else. */
  readonly kind: "command" | "subshell" | "other";
  /** Whether it runs only after the step before it has succeeded. */
  readonly isChained: boolean;
}

/** Maximum length of a script in characters. */
const MAX_LENGTH = 4_096;

/** Maximum number of steps. */
const MAX_STEPS = 30;

/** Nodes whose commands may run at another place of the script, or whose text is not in one piece. */
const OTHER_PLACES: ReadonlySet<SyntaxNode["type"]> = new Set<SyntaxNode["type"]>([
  "Function",
  "Coproc",
  "HereDoc",
]);

/** Lists the steps of a script; `undefined` if it is not a short sequence of them. */
export function listSteps(source: string): readonly ScriptStep[] | undefined {
  if (source.length > MAX_LENGTH) return undefined;
  const script = parse(source);
  const hasErrors = script.errors !== undefined && script.errors.length > 0;
  if (hasErrors || [...walkTree(script)].some(({ type }) => OTHER_PLACES.has(type))) {
    return undefined;
  }
  if (script.commands.some(({ background }) => background)) return undefined;
  const steps = script.commands.flatMap(({ command }) => {
    const isChain = command.type === "AndOr" && command.operators.every((text) => text === "&&");
    const parts = isChain ? command.commands : [command];
    return parts.map(({ type, pos, end }, index): ScriptStep => ({
      text: source.slice(pos, end),
      kind: getKind(type),
      isChained: index > 0,
    }));
  });
  return steps.length > MAX_STEPS ? undefined : steps;
}

function getKind(type: PipelineNode["type"] | "AndOr"): ScriptStep["kind"] {
  if (type === "Command") return "command";
  return type === "Subshell" ? "subshell" : "other";
}
