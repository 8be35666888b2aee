/**
 * A sandbox on a machine without programs such as `rg`.
 *
 * @module
 */

import type { Sandbox } from "../../src/tools/sandbox/sandbox.ts";

/** Wraps a sandbox so that starting a program fails as if none were installed. */
export function withoutPrograms(sandbox: Sandbox): Sandbox {
  return {
    root: sandbox.root,
    files: sandbox.files,
    startCommand: (command, options) => sandbox.startCommand(command, options),
    getOutputPath: (name) => sandbox.getOutputPath(name),
    net: sandbox.net,
    setNet: (net) => sandbox.setNet(net),
    describe: () => sandbox.describe(),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}
