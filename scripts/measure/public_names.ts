/**
 * Lists the names that public modules export.
 *
 * @module
 */

import ts from "typescript";
import { getDeclaredNames } from "../../tests/documentation/declared_names.ts";
import { parseSource } from "./source_files.ts";

/** The exported names of each public module: `{ "./testing": ["collectEvents"] }`. */
export type PublicNames = Record<string, string[]>;

/** Reads the text of a file; the path is relative to the root of the checkout. */
export type ReadFile = (path: string) => Promise<string>;

/** Lists the names that the modules in `exports` of `deno.json` export. */
export async function listPublicNames(read: ReadFile): Promise<PublicNames> {
  const { exports }: { exports: Record<string, string> } = JSON.parse(await read("deno.json"));
  const names: PublicNames = {};
  for (const [module, path] of Object.entries(exports)) {
    names[module] = (await listExports(path.replace("./", ""), read)).toSorted();
  }
  return names;
}

/** Returns the names that more than one module exports. */
export function findRepeatedNames(names: PublicNames): string[] {
  const all = Object.values(names).flat();
  return [...new Set(all.filter((name, index) => all.indexOf(name) < index))].toSorted();
}

async function listExports(path: string, read: ReadFile): Promise<string[]> {
  const names = new Set<string>();
  for (const statement of parseSource(path, await read(path)).ast.statements) {
    if (ts.isExportDeclaration(statement)) {
      const clause = statement.exportClause;
      if (clause && ts.isNamedExports(clause)) {
        clause.elements.forEach((element) => names.add(element.name.text));
      } else if (clause) {
        names.add(clause.name.text);
      } else {
        const imported = resolveImport(path, statement.moduleSpecifier);
        (await listExports(imported, read)).forEach((name) => names.add(name));
      }
    } else if (isExported(statement)) {
      getDeclaredNames(statement).forEach((name) => names.add(name));
    }
  }
  return [...names];
}

function resolveImport(path: string, specifier: ts.Expression | undefined): string {
  const text = specifier && ts.isStringLiteral(specifier) ? specifier.text : "";
  return new URL(text, `file:///${path}`).pathname.slice(1);
}

function isExported(statement: ts.Statement): boolean {
  return ts.canHaveModifiers(statement) &&
    (statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);
}
