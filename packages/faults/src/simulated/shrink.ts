import type { Plan } from '../history/plan.ts';

/** Removes what a failure does not need: steps, many at once, and processes. @param fails whether a plan still fails */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let { processes, steps } = plan;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < steps.length;) {
      const fewer = steps.toSpliced(at, size);
      if (await fails({ ...plan, steps: fewer })) steps = fewer;
      else at += size;
    }
  }
  while (processes > 1 && (await fails({ ...plan, steps, processes: processes - 1 }))) processes -= 1;
  return { ...plan, processes, steps };
}
