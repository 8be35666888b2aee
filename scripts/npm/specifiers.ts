/**
 * Rewrites the specifiers of a module: those of imports and exports, and of modules that `new URL(…, import.meta.url)` or a
 * function such as `importLate(…, import.meta.url)` names.
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

/**
 * Rewrites all specifiers in JavaScript or in declarations. Import attributes are removed, since all modules are code, but not
 * those of JSON in another package.
 */
export function rewriteSpecifiers(code: string, rewrite: RewriteSpecifier): string {
  const file = ts.createSourceFile("module.ts", code, ts.ScriptTarget.ESNext, true);
  const replacements: Replacement[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = getSpecifier(node);
    if (specifier) {
      const text = JSON.stringify(rewrite(specifier.text));
      replacements.push({ start: specifier.getStart(), end: specifier.getEnd(), text });
    }
    if (ts.isImportAttributes(node) && !isForeignJson(node.parent)) {
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
  return ts.isCallExpression(node) || ts.isNewExpression(node) ? getModulePath(node) : undefined;
}

/** Returns the path of a module that is relative to `import.meta.url`, the second argument. */
function getModulePath(node: ts.CallExpression | ts.NewExpression): ts.StringLiteral | undefined {
  if (node.arguments?.[1]?.getText() !== "import.meta.url") return undefined;
  const path = asLiteral(node.arguments[0]);
  return path?.text.endsWith(".ts") ? path : undefined;
}

/** Whether a node imports JSON of another package. */
function isForeignJson(node: ts.Node): boolean {
  const specifier = getSpecifier(node)?.text;
  return specifier !== undefined && /^[^.].*\.json$/.test(specifier);
}

function asLiteral(node: ts.Node | undefined): ts.StringLiteral | undefined {
  return node && ts.isStringLiteral(node) ? node : undefined;
}

function applyReplacements(code: string, replacements: Replacement[]): string {
  let text = "";
  let offset = 0;
  const sorted = replacements.toSorted((left, right) => left.start - right.start);
  for (const { start, end, text: replacement } of sorted) {
    text += code.slice(offset, start) + replacement;
    offset = end;
  }
  return text + code.slice(offset);
}
