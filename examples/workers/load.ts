// Starts runs at both workers, waits for them, and prints how long they take. A request is repeated while its worker is
// started again: the id makes it the same run.

const WORKERS = ["http://127.0.0.1:8081", "http://127.0.0.1:8082"];
/** Steps of a run: four model calls, and the intent and the execution of three notes. */
const STEPS = 10;

const count = Number(Deno.args[0] ?? 50);
const prefix = crypto.randomUUID().slice(0, 8);

async function request(number: number, init: RequestInit): Promise<{ readonly status: string }> {
  for (let attempt = 0;; attempt++) {
    const url = `${WORKERS[(number + attempt) % WORKERS.length]}/runs/${prefix}-${number}`;
    const response = await fetch(url, init).catch(() => undefined);
    if (response?.ok) return await response.json();
    await response?.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function runOne(number: number): Promise<number> {
  const startedAt = performance.now();
  await request(number, { method: "POST", body: `Topic ${number}` });
  while (true) {
    const { status } = await request(number, {});
    if (status === "completed") return performance.now() - startedAt;
    if (status !== "running") throw new Error(`Run ${number}: ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const startedAt = performance.now();
const times = await Promise.all(Array.from({ length: count }, (_, number) => runOne(number)));
const seconds = (performance.now() - startedAt) / 1000;
const sorted = times.toSorted((left, right) => left - right);
const quantile = (part: number) => Math.round(sorted[Math.floor(part * (count - 1))] ?? 0);
console.log(
  `${count} runs in ${seconds.toFixed(1)} s: ${Math.round(count * STEPS / seconds)} steps/s`,
);
console.log(`a run takes ${quantile(0.5)} ms (median), ${quantile(0.99)} ms (99 %)`);
