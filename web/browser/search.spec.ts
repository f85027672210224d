import { expect, picture, test } from "./test";

test("finds as you type, and opens the file at the line", async ({ page, request }) => {
  const lines = Array.from({ length: 60 }, (_, i) => (i === 41 ? "the needle <b>here</b>" : `hay ${i}`));
  await request.put("/files?path=search/hay.txt", { data: lines.join("\n") });
  await request.put("/files?path=search/other.py", { data: "NEEDLE = 1\n" });
  await page.goto("/app/search");
  await picture(page, "search-empty");
  await page.getByRole("searchbox").pressSequentially("needle");
  await expect(page.getByText("2 lines in 2 files")).toBeVisible();
  await expect(page.locator("mark").first()).toHaveText("needle");
  await expect(page.getByText("<b>here</b>")).toBeVisible();
  await expect(page).toHaveURL(/q=needle/);
  await picture(page, "search", { docs: "search" });
  await page.getByLabel("Match case").check();
  await expect(page.getByText("1 line in 1 file")).toBeVisible();
  await page.locator('a[href$="hay.txt#L42"]').click();
  await expect(page).toHaveURL(/files\/search\/hay\.txt#L42$/);
  await expect(page.locator(".cm-asked")).toContainText("the needle");
  await page.goBack();
  await expect(page.getByRole("searchbox")).toHaveValue("needle");
});

test.describe("an expression that is none", () => {
  test.use({ expected: [[/400/], { scope: "test" }] as never });

  test("is told in grep's words", async ({ page }) => {
    await page.goto("/app/search?q=a%5C(&regex=1");
    await expect(page.locator(".note.bad")).toContainText(/Unmatched/);
  });
});
