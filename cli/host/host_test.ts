import { assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";

Deno.test({
  name: "createDenoHost(): after SIGTERM, an output without a reader that reads counts as closed",
  ignore: Deno.build.os === "windows",
  async fn() {
    const module = new URL("./host.ts", import.meta.url).href;
    await using directory = await createTemporaryDirectory({
      "main.ts": `import { createDenoHost } from ${JSON.stringify(module)};
        const { terminal: { output, messages }, onStop } = createDenoHost();
        onStop(() => {});
        await messages.write("ready\\n");
        await output.write("x".repeat(1_000_000));
        Deno.exit(output.closed.aborted ? 7 : 8);`,
    });
    await using process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", "-A", `${directory.path}/main.ts`],
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const timer = setTimeout(() => process.kill("SIGKILL"), 20_000);
    const errors = process.stderr.getReader();
    const { value } = await errors.read();
    assertEquals(new TextDecoder().decode(value), "ready\n");
    process.kill("SIGTERM");
    assertEquals((await process.status).code, 7);
    clearTimeout(timer);
    await Promise.all([errors.cancel(), process.stdout.cancel()]);
  },
});
