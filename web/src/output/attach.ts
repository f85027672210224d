import { followStream } from "../api/events";
import { ApiError } from "../api/http";
import { Execution } from "./execution";

/** Stands for the address of an execution while the gateway has not told it. */
export const asked = "asked";

/** Takes up an execution again that an earlier visit began; false when the
 * gateway no longer knows of it, as of those that ended a while ago. */
export async function attach(x: Execution, location: string): Promise<boolean> {
  if (location === asked) {
    x.fail(new ApiError("The page was left before the gateway had answered: whether this ran is not known", "unknown", 0));
    return true;
  }
  x.location = location;
  try {
    await followStream(`${location}/events`, 0, {
      onEvent: (e) => x.take(e),
      onConnection: (connected) => (x.connected.value = connected),
    });
  } catch (err) {
    if (!x.start && err instanceof ApiError && err.status === 404) return false;
    x.fail(err);
  }
  if (x.state.value !== "running") return true;
  if (x.start) x.fail(new ApiError("It has ended meanwhile", "not_found", 404));
  return !!x.start;
}
