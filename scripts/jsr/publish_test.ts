import { assertEquals, assertStringIncludes } from "@std/assert";

Deno.test("publish: the package is not published with the offline packages", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-config", new URL("./publish.ts", import.meta.url).href],
    env: { SWINK_PACKAGES: "offline", JSR_URL: "http://127.0.0.1:1/" },
    stdin: "null",
    stdout: "null",
  }).output();
  assertEquals(code, 1);
  assertStringIncludes(
    new TextDecoder().decode(stderr),
    "The package is not published, because its program would have the offline packages",
  );
});
