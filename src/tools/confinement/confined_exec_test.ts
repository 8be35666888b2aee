import { assertEquals, assertMatch } from "@std/assert";
import { choosePackages } from "../../../scripts/packages.ts";
import { createDeadline } from "../../../tests/deadline.ts";
import { NOT_CONFINED_EXIT_CODE } from "./confined_exec.ts";
import { PIPED_ARGUMENT } from "./exec_protocol.ts";

const { config } = await choosePackages();

/** Runs the helper with a request that is not valid. */
async function runHelper(...args: readonly string[]) {
  const module = new URL("./confined_exec.ts", import.meta.url).href;
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "-c", config, module, ...args],
    stdin: "null",
    signal: createDeadline(),
  });
  const { code, stdout, stderr } = await command.output();
  const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, output, errors };
}

Deno.test({
  name:
    "confinedExecMain(): reports that it runs nothing where the program does not write its output",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const message = /^Cannot set up the sandbox: .+\n$/;
    const shell = await runHelper();
    assertEquals([shell.code, shell.errors], [NOT_CONFINED_EXIT_CODE, ""]);
    assertMatch(shell.output ?? "", message);
    const piped = await runHelper(PIPED_ARGUMENT);
    assertEquals([piped.code, piped.output], [NOT_CONFINED_EXIT_CODE, ""]);
    assertMatch(piped.errors ?? "", message);
  },
});
