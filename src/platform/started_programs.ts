/**
 * Whether programs may run that an agent controls.
 *
 * @module
 */

let hasStarted = false;

/** Notes that a program has been started, or will be, that may change files while this process reads them. */
export function noteStartedProgram(): void {
  hasStarted = true;
}

/** Whether such a program has been started. It may have left others behind, so this never becomes `false` again. */
export function hasStartedPrograms(): boolean {
  return hasStarted;
}
