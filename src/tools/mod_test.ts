import { assertEquals } from "@std/assert";

Deno.test("@swink/agent/tools: imports without permissions and without side effects", async () => {
  const module = JSON.stringify(new URL("./mod.ts", import.meta.url).href);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", "--no-config", "--no-lock", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(`import ${module}; console.log("imported");`));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  assertEquals([code, decoder.decode(stdout)], [0, "imported\n"], decoder.decode(stderr));
});
