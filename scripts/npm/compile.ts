/**
 * Compiles TypeScript modules one by one to JavaScript for Node 20 and to declarations.
 *
 * @module
 */

import ts from "typescript";
import { type RewriteSpecifier, rewriteSpecifiers } from "./specifiers.ts";

/** Lowers `using`. Functions that Node 20 does not have are avoided in the source. */
const TARGET = ts.ScriptTarget.ES2022;

/** Parts of the standard library that declarations use and a project may not have, by the names that need them. */
const LIBRARIES: readonly { readonly name: string; readonly usage: RegExp }[] = [
  { name: "esnext.disposable", usage: /\b(?:Async)?Disposable\b|\bSymbol\.(?:asyncD|d)ispose\b/ },
  { name: "dom.asynciterable", usage: /\bReadableStream</ },
];

/** Compiles a module to JavaScript. The path ends in `.ts`, or in `.js` for JavaScript. */
export function compileModule(path: string, source: string, rewrite: RewriteSpecifier): string {
  const { outputText } = ts.transpileModule(source, {
    fileName: path,
    compilerOptions: {
      target: TARGET,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  });
  return rewriteSpecifiers(outputText, rewrite);
}

/**
 * Compiles a module to declarations. An export without an explicit type, which no public module has, gets the type `any`
 * if its type is not obvious.
 */
export function compileDeclarations(
  path: string,
  source: string,
  rewrite: RewriteSpecifier,
): string {
  const { outputText } = ts.transpileDeclaration(source, {
    fileName: path,
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      declaration: true,
      isolatedDeclarations: true,
      strict: true,
      verbatimModuleSyntax: true,
    },
  });
  const declarations = removeDuplicateMethods(outputText);
  const references = LIBRARIES.filter(({ usage }) => usage.test(declarations)).map(({ name }) =>
    `/// <reference lib="${name}" />\n`
  );
  return references.join("") + rewriteSpecifiers(declarations, rewrite);
}

/** Removes the properties that TypeScript 5.9 adds for some methods whose name is a symbol: `[Symbol.dispose]: () => void`. */
function removeDuplicateMethods(declarations: string): string {
  return declarations.replaceAll(
    /^ +(\[Symbol\.\w+\]): \(\) => .*;\n/gm,
    (property, name) => declarations.includes(`${name}(): `) ? "" : property,
  );
}
