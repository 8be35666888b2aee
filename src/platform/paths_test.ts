import { assertEquals } from "@std/assert";
import * as node from "node:path";
import { seededRandom } from "../testing/seeded_random.ts";
import {
  basename,
  dirname,
  fromFileUrl,
  getRelativePath,
  isAbsolute,
  join,
  toFileUrl,
} from "./paths.ts";

Deno.test({
  name: "join(), dirname(), basename() and isAbsolute() agree with node:path on random paths",
  ignore: Deno.build.os === "windows",
  fn() {
    const random = seededRandom(8);
    const pieces = ["/", "a", "b.c", "..", ".", "//", " ", "é"];
    for (let round = 0; round < 2_000; round++) {
      const length = 1 + Math.floor(random() * 6);
      const path = Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)]).join(
        "",
      );
      const suffix = pieces[Math.floor(random() * pieces.length)] ?? "";
      const normal = node.normalize(path).replace(/(.)\/$/, "$1");
      assertEquals(isAbsolute(path), node.isAbsolute(path), path);
      assertEquals(
        join(path, suffix),
        node.join(path, suffix).replace(/(.)\/$/, "$1"),
        `${path} + ${suffix}`,
      );
      assertEquals(dirname(normal), node.dirname(normal), normal);
      assertEquals(
        basename(normal) || "/",
        node.basename(normal).replace(/^\.$/, "") || "/",
        normal,
      );
    }
  },
});

Deno.test({
  name: "fromFileUrl() reverses toFileUrl() for paths with any characters",
  ignore: Deno.build.os === "windows",
  fn() {
    const characters = "a/%#?\\ \t\n\r:&;+[]é한😀\"'`^|~{}<>";
    for (const character of characters) {
      const path = `/x/${character}y%41`;
      const url = toFileUrl(path);
      assertEquals(fromFileUrl(url), path);
      assertEquals([url.search, url.hash], ["", ""]);
    }
  },
});

Deno.test("getRelativePath(): returns the path below a directory, undefined outside", () => {
  assertEquals(getRelativePath("/a/b", "/a/b"), "");
  assertEquals(getRelativePath("/a/b", "/a/b/c/d"), "c/d");
  assertEquals(getRelativePath("/a/b", "/a/bc"), undefined);
  assertEquals(getRelativePath("/a/b", "/a"), undefined);
  assertEquals(getRelativePath("/", "/a"), "a");
});
