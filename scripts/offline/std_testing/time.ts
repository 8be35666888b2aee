import fakeTimers from "npm:@sinonjs/fake-timers@^15.5.0";

/** Thrown when time is faked or restored twice. */
export class TimeError extends Error {
  override name = "TimeError";
}

const realTimers = {
  setTimeout: globalThis.setTimeout,
  abortTimeout: AbortSignal.timeout,
};

let active: FakeTime | undefined;

/** Replaces `Date` and the timers by ones that a test advances. */
export class FakeTime {
  readonly start: number;
  #clock: ReturnType<typeof fakeTimers.install>;

  constructor(start: number | string | Date | null = null) {
    if (active) throw new TimeError("Cannot construct FakeTime: time is already faked");
    this.start = start === null ? Date.now() : new Date(start).getTime();
    if (Number.isNaN(this.start)) {
      throw new TypeError(`Cannot construct FakeTime: invalid start time ${start}`);
    }
    this.#clock = install(this.start);
    active = this;
  }

  get now(): number {
    return this.#clock.now;
  }

  set now(value: number) {
    if (value < this.now) {
      throw new RangeError(
        `Cannot set current time in the past, time must be >= ${this.now}: received ${value}`,
      );
    }
    this.#clock.tick(value - this.now);
  }

  tick(ms = 0): void {
    this.now += ms;
  }

  async tickAsync(ms = 0): Promise<void> {
    await this.runMicrotasks();
    this.now += ms;
  }

  next(): boolean {
    if (this.#clock.countTimers() === 0) return false;
    this.#clock.next();
    return true;
  }

  async nextAsync(): Promise<boolean> {
    await this.runMicrotasks();
    return this.next();
  }

  runAll(): void {
    while (this.next());
  }

  async runAllAsync(): Promise<void> {
    while (await this.nextAsync());
  }

  /** Waits in real time until the reactions of settled promises have run. */
  async runMicrotasks(): Promise<void> {
    await this.delay(0);
  }

  /** Waits in real time. */
  delay(ms: number): Promise<void> {
    return new Promise((resolve) => void realTimers.setTimeout(resolve, ms));
  }

  restore(): void {
    if (active !== this) {
      throw new TimeError("Cannot restore time: time is already restored");
    }
    active = undefined;
    this.#clock.uninstall();
    AbortSignal.timeout = realTimers.abortTimeout;
  }

  [Symbol.dispose](): void {
    this.restore();
  }

  static restore(): void {
    if (!active) throw new TimeError("Cannot restore time: time is already restored");
    active.restore();
  }
}

function install(now: number): ReturnType<typeof fakeTimers.install> {
  const clock = fakeTimers.install({
    now,
    toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"],
  });
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    clock.setTimeout(
      () => controller.abort(new DOMException("Signal timed out.", "TimeoutError")),
      ms,
    );
    return controller.signal;
  };
  return clock;
}
