import { Page } from "../../frame/shell";

export default function SearchPage() {
  return <Page title="Search">{null}</Page>;
}
