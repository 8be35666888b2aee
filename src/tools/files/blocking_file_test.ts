import { assertEquals } from "@std/assert";
import { isBlockingFile } from "./blocking_file.ts";

Deno.test({
  name: "isBlockingFile(): a pipe, an endless device, a large file and an inexact path block",
  ignore: Deno.build.os === "windows",
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "swink_test_" });
    await Deno.writeTextFile(`${directory}/small`, "*.log\n");
    await Deno.symlink("small", `${directory}/link`);
    await Deno.symlink("missing", `${directory}/dangling`);
    await Deno.symlink("/dev/zero", `${directory}/device`);
    await new Deno.Command("mkfifo", { args: [`${directory}/pipe`] }).output();
    const names = ["small", "link", "dangling", "missing", ".", "device", "pipe", "\ufffd"];
    const blocking = names.filter((name) => isBlockingFile(`${directory}/${name}`));
    assertEquals(blocking, ["device", "pipe", "\ufffd"]);
    assertEquals(isBlockingFile(`${directory}/small`, 5), true);
    assertEquals(isBlockingFile(`${directory}/small`, 6), false);
    await Deno.remove(directory, { recursive: true });
  },
});
