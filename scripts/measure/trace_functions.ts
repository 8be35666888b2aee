/**
 * Inserts a call of the tracer into every function of a source text.
 *
 * @module
 */

import ts from "typescript";
import { getFunctionName } from "./functions.ts";
import { type SourceFile, walk } from "./source_files.ts";

interface Insertion {
  position: number;
  text: string;
}

type FunctionWithBody = ts.FunctionLikeDeclaration & { body: ts.Node };

/**
 * Returns the source with the body of each function wrapped: `__trace("a.ts:1 f", () => { … })`.
 *
 * Generators are wrapped in `__traceGenerator` and `__traceAsyncGenerator`, which trace each step.
 */
export function traceFunctions({ path, ast }: SourceFile): string {
  const openings: Insertion[] = [];
  const closings: Insertion[] = [];
  walk(ast, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || !node.body) return;
    const [opening, closing] = wrap(node as FunctionWithBody, describe(path, ast, node));
    const { body } = node as FunctionWithBody;
    const inset = ts.isBlock(body) ? 1 : 0;
    openings.push({ position: body.getStart() + inset, text: opening });
    // Where two bodies end at the same position, the inner one closes first.
    closings.unshift({ position: body.getEnd() - inset, text: closing });
  });
  return insertAll(ast.text, [...openings, ...closings]);
}

/** Describes a function by location, class and name: `src/core/a.ts:12 Agent.prompt`. */
function describe(path: string, ast: ts.SourceFile, node: ts.Node): string {
  const line = ast.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  const name = getFunctionName(node) ?? "(anonymous)";
  const className = ts.isClassLike(node.parent) ? `${node.parent.name?.text ?? "(class)"}.` : "";
  return `${path}:${line} ${className}${name}`;
}

function wrap(node: FunctionWithBody, title: string): [string, string] {
  const name = JSON.stringify(title);
  const isAsync = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword);
  if (node.asteriskToken) {
    const [tracer, generator] = isAsync
      ? ["__traceAsyncGenerator", "async function*"]
      : ["__traceGenerator", "function*"];
    return [`return yield* ${tracer}(${name}, (${generator} () {`, `\n}).call(this));`];
  }
  const arrow = isAsync ? "async () =>" : "() =>";
  return ts.isBlock(node.body)
    ? [`return __trace(${name}, ${arrow} {`, `\n});`]
    : [`__trace(${name}, ${arrow} (`, `))`];
}

function insertAll(text: string, insertions: readonly Insertion[]): string {
  let result = "";
  let end = 0;
  for (const insertion of insertions.toSorted((a, b) => a.position - b.position)) {
    result += text.slice(end, insertion.position) + insertion.text;
    end = insertion.position;
  }
  return result + text.slice(end);
}
