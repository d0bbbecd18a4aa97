const isStatusIn =
  (from: number, to: number) =>
  (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;

/** Whether a procedure can declare this value as `successStatus`: 2xx or 3xx. */
export const isSuccessStatus = isStatusIn(200, 399);

/** Whether an error can have this value as its status: 4xx or 5xx. */
export const isErrorStatus = isStatusIn(400, 599);
