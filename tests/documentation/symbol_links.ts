/**
 * Finds `{@link}` and `{@linkcode}` tags whose symbol does not resolve.
 *
 * @module
 */

import ts from "typescript";
import { getComments } from "./comments.ts";
import { getDeclaredNames } from "./declared_names.ts";
import type { TextFile } from "./project_paths.ts";

/** Top-level names of a file. `from` and `name` of an import locate the declaration. */
interface Scope {
  declarations: Map<string, ts.Statement[]>;
  imports: Map<string, { from: string; name: string }>;
}

/** The declarations of a name; `statements` is `undefined` for a name of another package. */
interface Resolved {
  statements?: ts.Statement[];
  path: string;
}

/** Resolves names in a set of source files. */
export class SymbolResolver {
  readonly #texts: Map<string, string>;
  readonly #scopes = new Map<string, Scope>();

  constructor(files: readonly TextFile[]) {
    this.#texts = new Map(files.map(({ path, text }) => [path, text]));
  }

  /** Returns the links of a file that do not resolve, as `path: target`. */
  findDeadLinks({ path, text }: TextFile): string[] {
    if (!text.includes("{@link")) return [];
    const comments = getComments(text).join("\n");
    const links = comments.matchAll(/\{@link(?:code|plain)?\s+([^}|\s]+)[^}]*\}/g);
    return Array.from(links, ([, target = ""]) => target)
      .filter((target) => !target.includes("://") && !this.#resolves(path, target))
      .map((target) => `${path}: ${target}`);
  }

  #resolves(path: string, target: string): boolean {
    const [name = "", member, ...rest] = target.split(/[.#]/);
    if (rest.length > 0) return false;
    const resolved = this.#resolve(path, name);
    if (!resolved) return name in globalThis;
    return member === undefined || this.#hasMember(resolved, member);
  }

  /** Follows imports and re-exports to the declaration. */
  #resolve(path: string, name: string): Resolved | undefined {
    const scope = this.#scope(path);
    const statements = scope.declarations.get(name);
    if (statements) return { statements, path };
    const imported = scope.imports.get(name);
    if (!imported) return undefined;
    if (!this.#texts.has(imported.from)) return { path: imported.from };
    return this.#resolve(imported.from, imported.name);
  }

  #hasMember({ statements, path }: Resolved, member: string): boolean {
    if (!statements) return true;
    return statements.some((statement) =>
      hasOwnMember(statement, member) ||
      getBaseNames(statement).some((base) => {
        const resolved = this.#resolve(path, base);
        return resolved !== undefined && this.#hasMember(resolved, member);
      })
    );
  }

  #scope(path: string): Scope {
    const scope = this.#scopes.get(path) ?? readScope(path, this.#texts.get(path) ?? "");
    this.#scopes.set(path, scope);
    return scope;
  }
}

function readScope(path: string, text: string): Scope {
  const scope: Scope = { declarations: new Map(), imports: new Map() };
  const ast = ts.createSourceFile(path, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  }, true);
  for (const statement of ast.statements) {
    if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) {
      addImports(scope, statement, path);
    }
    for (const name of getDeclaredNames(statement)) {
      const statements = scope.declarations.get(name) ?? [];
      scope.declarations.set(name, [...statements, statement]);
    }
  }
  return scope;
}

function addImports(
  { imports }: Scope,
  statement: ts.ImportDeclaration | ts.ExportDeclaration,
  path: string,
): void {
  const specifier = statement.moduleSpecifier;
  if (!specifier || !ts.isStringLiteral(specifier)) return;
  const from = specifier.text.startsWith(".")
    ? new URL(specifier.text, `file:///${path}`).pathname.slice(1)
    : specifier.text;
  const clause = ts.isImportDeclaration(statement)
    ? statement.importClause?.namedBindings
    : statement.exportClause;
  if (clause && (ts.isNamedImports(clause) || ts.isNamedExports(clause))) {
    for (const { name, propertyName } of clause.elements) {
      imports.set(name.text, { from, name: (propertyName ?? name).text });
    }
  } else if (clause) {
    imports.set(clause.name.text, { from: `${from}#namespace`, name: clause.name.text });
  }
  const importedDefault = ts.isImportDeclaration(statement) && statement.importClause?.name;
  if (importedDefault) imports.set(importedDefault.text, { from, name: "default" });
}

function hasOwnMember(statement: ts.Statement, member: string): boolean {
  if (ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement)) {
    const members: readonly (ts.ClassElement | ts.TypeElement)[] = statement.members;
    return members.some(({ name }) => name?.getText() === member) ||
      hasParameterProperty(statement, member);
  }
  // In object types and object literals, a property at any depth matches.
  let found = false;
  ts.forEachChild(statement, function visit(node): void {
    const isProperty = ts.isPropertySignature(node) || ts.isMethodSignature(node) ||
      ts.isPropertyAssignment(node) || ts.isMethodDeclaration(node);
    if (isProperty && node.name.getText() === member) found = true;
    ts.forEachChild(node, visit);
  });
  return found;
}

function hasParameterProperty(statement: ts.Statement, member: string): boolean {
  if (!ts.isClassDeclaration(statement)) return false;
  return statement.members.filter(ts.isConstructorDeclaration).some(({ parameters }) =>
    parameters.some((parameter) =>
      parameter.modifiers !== undefined && parameter.name.getText() === member
    )
  );
}

/** Returns the names after `extends`, or the type names in an alias. */
function getBaseNames(statement: ts.Statement): string[] {
  if (ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement)) {
    const clauses = statement.heritageClauses ?? [];
    return clauses.flatMap(({ types }) => types.map(({ expression }) => expression.getText()));
  }
  const names: string[] = [];
  if (ts.isTypeAliasDeclaration(statement)) {
    ts.forEachChild(statement.type, function visit(node): void {
      if (ts.isTypeReferenceNode(node)) names.push(node.typeName.getText());
      ts.forEachChild(node, visit);
    });
  }
  return names;
}
