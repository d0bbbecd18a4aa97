/** @throws {TypeError} for a name that could be confused with another one in the log */
export function checkName(name: string): void {
  if (/^[\w.-]{1,100}$/.test(name)) return;
  throw new TypeError(
    `The name ${JSON.stringify(name)} is invalid: use 1 to 100 letters, digits, "_", "-" and ".", such as "animal-changes".`,
  );
}

/** @throws {TypeError} for a limit that would limit nothing, or everything */
export function checkLimit(of: string, option: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new TypeError(`${option} of ${of} is ${value}. Set an integer of 1 or more.`);
}
