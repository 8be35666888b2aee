import { assertEquals } from "@std/assert";
import { createLockedError } from "../store/session_errors.ts";
import { decodeLockOwner } from "./lock_owner.ts";

Deno.test("decodeLockOwner(): replaces members that are invalid", () => {
  const owner = { pid: 7, name: "server", since: 5, heartbeat: 6 };
  assertEquals(decodeLockOwner(JSON.stringify(owner)), owner);
  assertEquals(decodeLockOwner(JSON.stringify(owner), 9), { ...owner, heartbeat: 9 });
  const unknown = { pid: 0, since: 9, heartbeat: 9 };
  for (const text of ["", "garbled", "[]", "5", "null", '{"pid":"7","name":{},"since":1e300}']) {
    assertEquals(decodeLockOwner(text, 9), unknown);
    assertEquals(decodeLockOwner(text), { pid: 0, since: 0, heartbeat: 0 });
  }
});

Deno.test("createLockedError(): names the owner of a lock with any time", () => {
  const { message } = createLockedError("s", { pid: 7, since: 8.64e15 + 1, heartbeat: 0 });
  assertEquals(
    message.slice(0, 61),
    'The session "s" is open in process 7 since time 8640000000000',
  );
});
