import { assertEquals } from "@std/assert";
import { listMountedPaths } from "./mounted_paths.ts";

const TABLE = [
  "20 1 8:1 / / rw,noatime shared:1 - ext4 /dev/sda1 rw",
  "21 20 0:5 / /dev rw - devtmpfs udev rw",
  "22 20 8:1 /home/u/project /workspace rw - ext4 /dev/sda1 rw",
  "23 20 8:1 /home/u /mnt/a\\040b rw - ext4 /dev/sda1 rw",
  "24 20 8:2 / /data rw - ext4 /dev/sdb1 rw",
  "25 20 0:9 / /mnt/covered rw - tmpfs tmpfs rw",
  "26 20 8:2 /x /mnt/covered rw - ext4 /dev/sdb1 rw",
  "",
].join("\n");

Deno.test("listMountedPaths(): lists the other paths of files and directories that are mounted twice", () => {
  const list = (...paths: string[]) => listMountedPaths(paths, TABLE).toSorted();
  assertEquals(list("/home/u/project/.env"), ["/mnt/a b/project/.env", "/workspace/.env"]);
  assertEquals(list("/workspace/.env"), ["/home/u/project/.env", "/mnt/a b/project/.env"]);
  assertEquals(list("/workspace"), ["/home/u/project", "/mnt/a b/project"]);
  assertEquals(list("/workspace/a", "/home/u/project/a"), ["/mnt/a b/project/a"]);
  assertEquals(list("/mnt/covered/key"), ["/data/x/key"]);
  assertEquals(list("/data/x"), ["/mnt/covered"]);
  assertEquals(list("/dev", "/etc/shadow", "/data/y"), []);
});

Deno.test("listMountedPaths(): lists none without a table of mounts", () => {
  assertEquals(listMountedPaths(["/a"], ""), []);
  assertEquals(listMountedPaths(["/a"], "x\n1 2 3\n"), []);
});
