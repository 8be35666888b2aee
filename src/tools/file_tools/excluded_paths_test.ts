import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors.ts";
import { createPathExclusion } from "./excluded_paths.ts";

Deno.test("createPathExclusion(): compares paths for two seconds in total", () => {
  const files = { toDisplayPath: (path: string) => path.replace("/work/", "") };
  let time = 0;
  const isExcluded = createPathExclusion(["a/**"], files, { now: () => time += 100 });
  for (let index = 0; index < 20; index++) {
    assertEquals(isExcluded?.(index % 2 ? "/work/a/b" : "/work/b"), index % 2 === 1);
  }
  assertThrows(() => isExcluded?.("/work/b"), BadRequestError, "exclude_paths takes too long");
});
