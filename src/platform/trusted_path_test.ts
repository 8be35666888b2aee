import { assertEquals } from "@std/assert";
import { getTrustedPath } from "./trusted_path.ts";

Deno.test({
  name: "getTrustedPath(): leaves out directories that commands can write, also behind links",
  ignore: Deno.build.os === "windows",
  fn() {
    const parent = Deno.realPathSync(Deno.makeTempDirSync());
    try {
      for (const path of ["project/bin", "project-bin", "outside"]) {
        Deno.mkdirSync(`${parent}/${path}`, { recursive: true });
      }
      Deno.symlinkSync(`${parent}/project/bin`, `${parent}/link`);
      Deno.symlinkSync(`${parent}/outside`, `${parent}/project/out`);
      const path = ["project/bin", "link", "project-bin", "missing", "project/out", "project"]
        .map((name) => `${parent}/${name}`);
      assertEquals(
        getTrustedPath(["", ".", "bin", ...path].join(":"), [`${parent}/project`, "/other"]),
        `${parent}/project-bin:${parent}/outside`,
      );
      assertEquals(getTrustedPath(`${parent}/project/bin:`, [`${parent}/project`]), "/dev/null");
    } finally {
      Deno.removeSync(parent, { recursive: true });
    }
  },
});
