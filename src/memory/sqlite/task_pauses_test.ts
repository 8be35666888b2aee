import { assertEquals, assertRejects } from "@std/assert";
import { TaskPauses } from "./task_pauses.ts";

/** Calls that take 15 ms each, by the clock of the test. */
class Calls {
  #time = 0;
  readonly #pauses = new TaskPauses(() => this.#time);

  async call<Value>(act: () => Value): Promise<Value> {
    while (this.#pauses.isDue) await this.#pauses.pause();
    return this.#pauses.run(() => {
      this.#time += 15;
      return act();
    });
  }
}

Deno.test("TaskPauses: other tasks run between calls that take long together, which keep their order", async () => {
  const calls = new Calls();
  const events: string[] = [];
  const called = ["a", "b", "c", "d", "e"].map((name) =>
    calls.call(() => {
      events.push(name);
      setTimeout(() => events.push(`task of ${name}`), 0);
    })
  );
  assertEquals(events, ["a", "b"]);
  await Promise.all(called);
  await new Promise((resolve) => setTimeout(resolve, 0));
  const tasks = ["task of a", "task of b", "c", "d", "task of c", "task of d", "e", "task of e"];
  assertEquals(events.slice(2), tasks);
});

Deno.test("TaskPauses: calls that throw are counted too", async () => {
  const calls = new Calls();
  const fail = () => {
    throw new Error("locked");
  };
  for (let count = 0; count < 2; count++) {
    await assertRejects(() => calls.call(fail), Error, "locked");
  }
  let hasRun = false;
  setTimeout(() => hasRun = true, 0);
  assertEquals(await calls.call(() => hasRun), true);
});
