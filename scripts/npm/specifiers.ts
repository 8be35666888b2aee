/**
 * Rewrites the specifiers of a module: those of imports and exports, and of modules named by `new URL(…, import.meta.url)`.
 *
 * @module
 */

import ts from "typescript";

/** A part of a text and its replacement. */
interface Replacement {
  start: number;
  end: number;
  text: string;
}

/** Returns the new specifier. */
export type RewriteSpecifier = (specifier: string) => string;

/** Rewrites all specifiers in JavaScript or in declarations. Import attributes are removed: all modules are code. */
export function rewriteSpecifiers(code: string, rewrite: RewriteSpecifier): string {
  const file = ts.createSourceFile("module.ts", code, ts.ScriptTarget.ESNext, true);
  const replacements: Replacement[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = getSpecifier(node);
    if (specifier) {
      const text = JSON.stringify(rewrite(specifier.text));
      replacements.push({ start: specifier.getStart(), end: specifier.getEnd(), text });
    }
    if (ts.isImportAttributes(node)) {
      replacements.push({ start: node.pos, end: node.end, text: "" });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return applyReplacements(code, replacements);
}

/** Returns all specifiers of a module. */
export function getSpecifiers(code: string): string[] {
  const specifiers: string[] = [];
  rewriteSpecifiers(code, (specifier) => {
    specifiers.push(specifier);
    return specifier;
  });
  return specifiers;
}

function getSpecifier(node: ts.Node): ts.StringLiteral | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    return asLiteral(node.moduleSpecifier);
  }
  if (ts.isImportTypeNode(node)) {
    return ts.isLiteralTypeNode(node.argument) ? asLiteral(node.argument.literal) : undefined;
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return asLiteral(node.arguments[0]);
  }
  const isModuleUrl = ts.isNewExpression(node) && node.expression.getText() === "URL" &&
    node.arguments?.[1]?.getText() === "import.meta.url";
  const url = isModuleUrl ? asLiteral(node.arguments?.[0]) : undefined;
  return url?.text.endsWith(".ts") ? url : undefined;
}

function asLiteral(node: ts.Node | undefined): ts.StringLiteral | undefined {
  return node && ts.isStringLiteral(node) ? node : undefined;
}

function applyReplacements(code: string, replacements: Replacement[]): string {
  let text = "";
  let offset = 0;
  for (const { start, end, text: replacement } of replacements) {
    text += code.slice(offset, start) + replacement;
    offset = end;
  }
  return text + code.slice(offset);
}
