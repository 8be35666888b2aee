/**
 * The program that executes code of the library in a process of its own.
 *
 * @module
 */

import { isDeno, system } from "../../platform/system.ts";

/** A program that executes code of the library. */
export interface ChildProgram {
  /** A runtime that executes a module, or the compiled `swink`, whose first argument selects the code. */
  readonly type: "deno" | "node" | "bun" | "swink";
  /** Path of the program. */
  readonly path: string;
}

/**
 * Returns the program; `undefined` when there is none.
 *
 * A compiled program other than `swink` does not know the arguments that select the code: it would do its own work again.
 */
export function findChildProgram(): ChildProgram | undefined {
  const path = system.execPath();
  if (!isDeno) {
    const type = getRuntime(path);
    return type && { type, path };
  }
  if (!system.build.standalone) return { type: "deno", path };
  return isSwink() ? { type: "swink", path } : undefined;
}

/** Returns the runtime that an executable is by its name. Programs that contain a runtime, such as Electron, have other names. */
function getRuntime(path: string): "node" | "bun" | undefined {
  switch (/([^/\\]+?)(\.exe)?$/i.exec(path)?.[1]?.toLowerCase()) {
    case "node":
    case "nodejs":
      return "node";
    case "bun":
      return "bun";
    default:
      return undefined;
  }
}

/**
 * Returns the flags with which Deno finds the packages of a library that npm has installed, also without a
 * configuration.
 */
export function getPackageFlags(): string[] {
  const isInstalledByNpm = new URL(import.meta.url).pathname.includes("/node_modules/");
  return isInstalledByNpm ? ["--node-modules-dir=manual"] : [];
}

function isSwink(): boolean {
  const { mainModule } = Deno;
  return mainModule ===
    import.meta.url.replace("src/tools/process/child_program.ts", "cli/main.ts");
}
