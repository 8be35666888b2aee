import type { Sandbox } from "../../src/tools/sandbox/sandbox.ts";

/** Creates the part of a sandbox that reports whether it confines commands. */
export function createConfinementStub(confined: boolean): Pick<Sandbox, "describe"> {
  return {
    describe: () =>
      Promise.resolve({
        confined,
        status: confined ? "confined" : "unconfined",
        summary: "",
        rules: [],
        mechanisms: [],
      }),
  };
}
