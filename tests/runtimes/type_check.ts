/**
 * Checks types with the TypeScript of npm, as projects that do not use Deno do.
 *
 * @module
 */

import ts from "typescript";
import { root } from "../project.ts";

/** A check of some files. */
export interface TypeCheck {
  /** Paths of the files. */
  files: readonly string[];
  /** Libraries of TypeScript: `es2022`, `dom`. */
  lib: readonly string[];
  /** Packages of types that are included. */
  types: readonly string[];
  moduleResolution: "nodenext" | "bundler";
  /** Directory whose `node_modules` has the packages. */
  directory: string;
  /** Skips errors in declarations. Default: `false`. */
  skipLibCheck?: boolean;
  /** Allows imports of `.ts` files. */
  isSource?: boolean;
  /** Path of a file that keeps the results, so that the next check only checks what has changed. Default: none. */
  resultsPath?: string;
}

/** Checks types strictly; returns the errors. */
export function checkTypes(
  check: TypeCheck,
): string[] {
  const { files, lib, types, moduleResolution, directory, resultsPath } = check;
  const { skipLibCheck = false, isSource = false } = check;
  const isNodeNext = moduleResolution === "nodenext";
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    lib: lib.map((name) => `lib.${name}.d.ts`),
    types: [...types],
    typeRoots: [`${directory}/node_modules/@types`],
    module: isNodeNext ? ts.ModuleKind.NodeNext : ts.ModuleKind.ESNext,
    moduleResolution: isNodeNext
      ? ts.ModuleResolutionKind.NodeNext
      : ts.ModuleResolutionKind.Bundler,
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck,
    allowImportingTsExtensions: isSource,
  };
  const host = ts.createIncrementalCompilerHost(options);
  if (isSource) resolvePackagesFrom(host, directory);
  const rootNames = [...files];
  if (resultsPath === undefined) {
    return ts.getPreEmitDiagnostics(ts.createProgram(rootNames, options, host)).map(
      formatDiagnostic,
    );
  }
  const incremental = { ...options, incremental: true, tsBuildInfoFile: resultsPath };
  const program = ts.createIncrementalProgram({ rootNames, options: incremental, host });
  const errors = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ].map(formatDiagnostic);
  program.emit(); // writes the results
  return errors;
}

/** Resolves the packages that the source imports in a directory, as if it was there. */
function resolvePackagesFrom(host: ts.CompilerHost, directory: string): void {
  host.resolveModuleNameLiterals = (names, importer, _redirected, options) =>
    names.map(({ text }) => {
      const isPackage = !text.startsWith(".") && !importer.includes("/node_modules/");
      const from = isPackage ? `${directory}/index.ts` : importer;
      return ts.resolveModuleName(text, from, options, host);
    });
}

function formatDiagnostic({ file, start, messageText }: ts.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, "\n");
  if (!file || start === undefined) return message;
  const { line } = file.getLineAndCharacterOfPosition(start);
  const path = file.fileName.replace(decodeURIComponent(root.pathname), "");
  return `${path}:${line + 1} ${message}`;
}
